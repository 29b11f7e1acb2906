/// A media playlist: the segments of one rendition, in their order.
package struct HLSMedia {
    /// The segments in the order of playback.
    package private(set) var segments: [Segment] = []
    /// Seconds that no segment is longer than.
    package private(set) var targetDuration = 0.0
    /// Whether no segment will be added any more.
    package private(set) var isEnded = false
    /// Whether segments are only ever added.
    package private(set) var keepsAll = false

    /// The most segments of a playlist: a day of them, one a second.
    package static let maxSegments = 100_000

    /// A file, or a range of one, with some seconds of audio.
    package struct Segment {
        /// Its URL, relative to the playlist's.
        package let reference: String
        /// Seconds.
        package let duration: Double
        /// Its number in the whole presentation.
        package let sequence: Int64
        /// The bytes of the file that belong to it; all of them if there is none.
        package let range: Range<Int64>?
        /// How it is encrypted; `nil` if it is not encrypted.
        package let key: Key?
        /// The initialization section that its decoding needs.
        package let map: Map?
        /// Whether times or codec may change before it.
        package let isDiscontinuous: Bool
    }

    /// How a segment is encrypted: AES-128 in cipher block chaining.
    package struct Key: Hashable {
        /// The URL of the 16 bytes, relative to the playlist's.
        package let reference: String
        /// The initialization vector; from the segment's number if there is none.
        package let vector: [UInt8]?
    }

    /// The part that comes before segments of MPEG-4.
    package struct Map: Hashable {
        /// Its URL, relative to the playlist's.
        package let reference: String
        /// The bytes of the file that belong to it; all of them if there is none.
        package let range: Range<Int64>?
        /// How it is encrypted; `nil` if it is not encrypted.
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
