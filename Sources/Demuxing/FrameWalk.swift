package import Bytes
package import CLibav

/// Counts frames by their headers, up to the first inconsistent one.
package struct FrameWalk {
    /// The offset of the frame that was reached.
    package private(set) var offset: Int64
    /// Samples of the frames before it.
    package private(set) var samples: Int64 = 0

    private static let window = 1 << 20

    /// Reads from a frame over frames of the same length, and over at most `most` samples.
    package init(_ source: any ByteSource, codec: AVCodecID, from start: Int64, samples length: Int, atMost most: Int64)
        throws
    {
        offset = start
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.window, alignment: 16)
        defer { buffer.deallocate() }
        var kind: UInt32?
        var last = start
        walk: while samples + Int64(length) <= most {
            var filled = 0
            while filled < buffer.count {
                let count = try source.read(into: .init(rebasing: buffer[filled...]), at: offset + Int64(filled))
                guard count > 0 else { break }
                filled += count
            }
            let bytes = UnsafeBufferPointer(rebasing: buffer.bindMemory(to: UInt8.self)[..<filled])
            var place = 0
            while samples + Int64(length) <= most, let frame = Self.frame(codec, bytes, at: place, length) {
                guard kind == nil || kind == frame.kind else {
                    offset += Int64(place)
                    break walk
                }
                kind = frame.kind
                last = offset + Int64(place)
                place += frame.bytes
                samples += Int64(length)
            }
            offset += Int64(place)
            if place < Self.window / 2 { break }
        }
        // Tags or frames of another kind may follow, so the last frame is used.
        if samples > 0, samples + Int64(length) <= most {
            (offset, samples) = (last, samples - Int64(length))
        }
    }

    /// A complete frame with `samples` samples: its size, and the header bits that are constant in a stream.
    package static func frame(
        _ codec: AVCodecID, _ bytes: UnsafeBufferPointer<UInt8>, at place: Int, _ samples: Int
    ) -> (bytes: Int, kind: UInt32)? {
        guard place + 10 <= bytes.count else { return nil }
        let head = UnsafeBufferPointer(rebasing: bytes[place...])
        if codec == AV_CODEC_ID_AAC {
            guard let length = FrameHeader.adtsLength(head), length <= head.count, head[6] & 3 == 0 else { return nil }
            return (length, UInt32(head[1] & 0xFE) << 8 | UInt32(head[2] & 0xFC))
        }
        guard let length = FrameHeader.length(codec, head), length <= head.count,
            FrameHeader.samples(codec, head, whole: false) == samples
        else { return nil }
        switch codec {
        case AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3: return (length, UInt32(head[4] & 0xC0))
        case AV_CODEC_ID_DTS: return (length, UInt32(head[7] & 0x0F) << 8 | UInt32(head[8] & 0xFC))
        default: return (length, UInt32(head[1] & 0xFE) << 8 | UInt32(head[2] & 0x0C))
        }
    }
}
