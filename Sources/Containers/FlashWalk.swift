package import Bytes

/// Reads the tags of a Flash video file by their headers (Adobe Flash Video File Format Specification 10.1, annex E.4.1).
package struct FlashWalk {
    /// The offset of the audio tag that was reached.
    package private(set) var offset: Int64
    /// Samples of the audio tags before it.
    package private(set) var samples: Int64 = 0
    /// Bytes of the bodies of the audio tags before it.
    package private(set) var bytes: Int64 = 0

    private static let (sound, picture, script): (UInt8, UInt8, UInt8) = (8, 9, 18)
    /// The size of a tag header.
    private static let header = 11

    /// Reads from an audio tag to the last one that begins after at most `most` samples, or to the last one before an
    /// inconsistency. Each audio tag contains one frame of `length` samples; `isFrame` validates it.
    package init(
        _ source: any ByteSource, from start: Int64, samples length: Int64, atMost most: Int64,
        isFrame: (UnsafeBufferPointer<UInt8>) -> Bool
    ) throws {
        offset = start
        var window = SourceWindow(source)
        var (place, passed, passedBytes) = (start, Int64(0), Int64(0))
        var kind: UInt8?
        while passed <= most {
            let head = try window.bytes(at: place, atLeast: Self.header)
            guard head.count >= Self.header else { return }
            let type = head[0]
            let size = head[1...3].reduce(0) { $0 << 8 | Int($1) }
            if type == Self.sound {
                let tag = try window.bytes(at: place, atLeast: Self.header + size)
                guard size > 0, tag.count >= Self.header + size, kind ?? tag[Self.header] == tag[Self.header],
                    isFrame(UnsafeBufferPointer(rebasing: tag[Self.header..<(Self.header + size)]))
                else { return }
                kind = tag[Self.header]
            } else if type != Self.picture && type != Self.script {
                return
            }
            let next = place + Int64(Self.header + size)
            let tail = try window.bytes(at: next, atLeast: 4)
            guard tail.count >= 4, tail[..<4].reduce(0, { $0 << 8 | Int($1) }) == Self.header + size else { return }
            if type == Self.sound {
                (offset, samples, bytes) = (place, passed, passedBytes)
                passed += length
                passedBytes += Int64(size)
            }
            place = next + 4
        }
    }
}
