/// A media playlist: the segments of one rendition, in their order.
package struct HLSMedia {
    /// The segments in the order of playback.
    package private(set) var segments: [Segment] = []
    /// The maximum duration of a segment in seconds.
    package private(set) var targetDuration = 0.0
    /// Whether no more segments will be added.
    package private(set) var isEnded = false
    /// Whether segments are added but never removed.
    package private(set) var keepsAll = false

    /// The maximum number of segments: a day at one per second.
    package static let maxSegments = 100_000

    /// A file, or a range of one, with a part of the audio.
    package struct Segment {
        /// The URL, relative to the playlist's.
        package let reference: String
        /// Seconds.
        package let duration: Double
        /// The media sequence number.
        package let sequence: Int64
        /// The byte range within the file; `nil` for the whole file.
        package let range: Range<Int64>?
        /// The encryption; `nil` if there is none.
        package let key: Key?
        /// The initialization section that is needed for decoding; `nil` if there is none.
        package let map: Map?
        /// Whether timestamps or codec may change before the segment.
        package let isDiscontinuous: Bool
    }

    /// The encryption of a segment: AES-128 in CBC mode.
    package struct Key: Hashable {
        /// The URL of the 16-byte key, relative to the playlist's.
        package let reference: String
        /// The initialization vector; if `nil`, it is the segment's sequence number.
        package let vector: [UInt8]?
    }

    /// The initialization section of MPEG-4 segments.
    package struct Map: Hashable {
        /// The URL, relative to the playlist's.
        package let reference: String
        /// The byte range within the file; `nil` for the whole file.
        package let range: Range<Int64>?
        /// The encryption; `nil` if there is none.
        package let key: Key?
    }

    init(_ lines: PlaylistLines) throws(PlaylistError) {
        var reader = HLSMediaReader()
        for line in lines {
            if let segment = try reader.take(line) { segments.append(segment) }
        }
        (targetDuration, isEnded, keepsAll) = (reader.targetDuration, reader.isEnded, reader.keepsAll)
    }
}
