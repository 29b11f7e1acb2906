import Bytes
import CLibav
import Containers
import Demuxing

/// What lies behind the last good frame of a container of bare frames: a part of another, or bytes that are no audio.
enum TrailingGarbage {
    /// Whether no frame begins in what follows an offset, where one ends that begins at another; more than this much is taken
    /// for damage.
    static func isAll(
        from start: Int64, behind last: Int64, of source: any ByteSource, _ codec: AVCodecID, _ framing: FrameDelimiter
    ) -> Bool {
        guard let rest = rest(from: start, of: source, framing) else { return false }
        if [AV_CODEC_ID_TRUEHD, AV_CODEC_ID_MLP].contains(codec) {
            // Its frames have no mark, and at 2 each the time of their first sample, which goes on from frame to frame.
            guard rest.count >= 4 else { return rest.allSatisfy { $0 <= 0x20 } }
            guard let time = try? SourceBytes(source).big(at: last + 2, 2) else { return false }
            return !(1...160).contains(((Int64(rest[2]) << 8 | Int64(rest[3])) - time) & 0xFFFF)
        }
        return FrameHeader.isMarked(codec, rest) == false
    }

    /// Whether a frame begins at an offset that is longer than what is left.
    static func isPartialFrame(
        from start: Int64, of source: any ByteSource, _ codec: AVCodecID, _ framing: FrameDelimiter
    ) -> Bool {
        guard let rest = rest(from: start, of: source, framing) else { return false }
        let length = rest.withUnsafeBufferPointer { FrameHeader.length(codec, $0) }
        return length.map { $0 > source.length - start } ?? false
    }

    /// Whether a block or a tag of WavPack begins at an offset, of which the rest is missing.
    static func isPartOfFile(from start: Int64, of source: any ByteSource, _ framing: FrameDelimiter) -> Bool {
        let bytes = SourceBytes(source)
        guard case .wavPackBlocks = framing, let name = try? bytes.text(at: start, 4), ["wvpk", "APET"].contains(name)
        else { return false }
        let size = try? bytes.little(at: start + (name == "wvpk" ? 4 : 12), 4)
        return size.map { $0 + (name == "wvpk" ? 8 : 32) > bytes.rest(from: start) } ?? true
    }

    private static func rest(from start: Int64, of source: any ByteSource, _ framing: FrameDelimiter) -> [UInt8]? {
        guard case .nothing = framing, !source.isEndless, start >= 0, (1...most).contains(source.length - start)
        else { return nil }
        return try? SourceBytes(source).read(at: start, Int(min(source.length - start, 16)))
    }

    private static let most: Int64 = 65_536
}
