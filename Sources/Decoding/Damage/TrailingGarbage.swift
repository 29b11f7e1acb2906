import Bytes
import CLibav
import Containers
import Demuxing

/// Classifies bytes after the last good frame of a raw stream: part of another frame, or bytes that are not audio.
enum TrailingGarbage {
    /// Whether no frame begins at `start`, which is the end of the frame at `last`. More bytes than the maximum are considered
    /// damage.
    static func isAll(
        from start: Int64, behind last: Int64, of source: any ByteSource, _ codec: AVCodecID, _ framing: FrameDelimiter
    ) -> Bool {
        guard let rest = rest(from: start, of: source, framing) else { return false }
        if [AV_CODEC_ID_TRUEHD, AV_CODEC_ID_MLP].contains(codec) {
            // TrueHD frames have no sync word. At byte 2, each has the time of its first sample, which increases from frame to
            // frame.
            guard rest.count >= 4 else { return rest.allSatisfy { $0 <= 0x20 } }
            guard let time = try? SourceBytes(source).big(at: last + 2, 2) else { return false }
            return !(1...160).contains(((Int64(rest[2]) << 8 | Int64(rest[3])) - time) & 0xFFFF)
        }
        return FrameHeader.isMarked(codec, rest) == false
    }

    /// Whether a frame begins at an offset and is longer than the remaining bytes.
    static func isPartialFrame(
        from start: Int64, of source: any ByteSource, _ codec: AVCodecID, _ framing: FrameDelimiter
    ) -> Bool {
        guard let rest = rest(from: start, of: source, framing) else { return false }
        let length = rest.withUnsafeBufferPointer { FrameHeader.length(codec, $0) }
        return length.map { $0 > source.length - start } ?? false
    }

    /// Whether a WavPack block or a tag begins at an offset and is incomplete.
    static func isPartOfFile(from start: Int64, of source: any ByteSource, _ framing: FrameDelimiter) -> Bool {
        let bytes = SourceBytes(source)
        guard case .wavPackBlocks = framing, let name = try? bytes.text(at: start, 4), ["wvpk", "APET"].contains(name)
        else { return false }
        let size = try? bytes.little(at: start + (name == "wvpk" ? 4 : 12), 4)
        return size.map { $0 + (name == "wvpk" ? 8 : 32) > bytes.rest(from: start) } ?? true
    }

    /// Whether only tags of music files follow a frame. FLAC's packet includes them, so the checksum at the end of the frame
    /// shows where it ends (RFC 9639, section 9.3).
    static func isTags(behind frame: Range<Int64>, of source: any ByteSource, _ codec: AVCodecID) throws(MediaError)
        -> Bool
    {
        do {
            let start = try TrailingTags.start(source)
            guard min(start, frame.upperBound) < source.length, frame.lowerBound >= 0 else { return false }
            guard codec == AV_CODEC_ID_FLAC else {
                return try start <= TrailingTags.end(source, behind: frame.upperBound)
            }
            guard start < source.length, start - frame.lowerBound <= maxFrameBytes,
                let bytes = try SourceBytes(source).read(at: frame.lowerBound, Int(start - frame.lowerBound))
            else { return false }
            return av_crc(av_crc_get_table(AV_CRC_16_ANSI), 0, bytes, bytes.count) == 0
        } catch { throw .unreadable(error) }
    }

    /// More than a frame of FLAC has: 65,535 samples of 8 channels with 32 bits.
    private static let maxFrameBytes: Int64 = 4 << 20

    private static func rest(from start: Int64, of source: any ByteSource, _ framing: FrameDelimiter) -> [UInt8]? {
        guard case .nothing = framing, !source.isEndless, start >= 0, (1...maxBytes).contains(source.length - start)
        else { return nil }
        return try? SourceBytes(source).read(at: start, Int(min(source.length - start, 16)))
    }

    private static let maxBytes: Int64 = 65_536
}
