import Demuxing

/// Classifies bytes between MPEG audio frames: tags of music files, which decoders do not recognize, or unknown bytes.
package struct FrameGap {

    /// Begins before the first packet, with no tag in progress.
    package init() {}

    /// The kind of the bytes before a frame.
    package enum Content {
        /// The packet begins with a frame.
        case none
        /// Only tags and zeros, up to the next frame, if any.
        case known
        case unknown
    }

    /// The rest of a tag that extends beyond the last packet. Any of its bytes may look like a frame.
    private var tagRest = 0
    /// Bytes after a tag in which resynchronization may not have succeeded yet, because some bytes of the tag looked like
    /// frames.
    private var searchRest = 0
    private static let longestSearch = 4096

    /// Classifies the start of the next packet, which is contiguous with the last one.
    package mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Content {
        // Most packets contain exactly a frame.
        if tagRest == 0, searchRest == 0, Self.beginsFrame(bytes[...]) { return .none }
        let start = min(tagRest, bytes.count)
        tagRest -= start
        let isSearching = searchRest > 0
        searchRest = start > 0 ? Self.longestSearch : max(searchRest - bytes.count, 0)
        var rest = bytes[start...]
        var holdsTag = start > 0
        while let byte = rest.first {
            if byte == 0 {
                rest = rest.drop { $0 == 0 }
            } else if Self.beginsFrame(rest) {
                return rest.startIndex == 0 ? .none : .known
            } else if let length = FrameTag.length(rest) {
                tagRest = max(length - rest.count, 0)
                rest = rest.dropFirst(length)
                holdsTag = true
            } else {
                return isSearching ? .known : .unknown
            }
        }
        // Zeros alone are padding only before a frame or a tag. In a container that delimits packets, they replace a frame.
        return holdsTag ? .known : .unknown
    }

    private static func beginsFrame(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        bytes.count > 1 && bytes[bytes.startIndex] == 0xFF && bytes[bytes.startIndex + 1] & 0xE0 == 0xE0
    }
}
