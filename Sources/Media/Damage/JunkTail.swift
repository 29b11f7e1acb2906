import CLibav

/// What lies behind the last good frame of a container of bare frames: a part of another, or bytes that are no audio.
enum JunkTail {
    /// Whether no frame begins in what follows an offset; more than this much is taken for damage.
    static func isAll(from start: Int64, of source: any ByteSource, _ codec: AVCodecID, _ format: String) -> Bool {
        guard let rest = rest(from: start, of: source, format), let mark = FrameHeader.mark(codec) else { return false }
        return !zip(rest, mark).allSatisfy { $0 & $1.mask == $1.bits }
    }

    /// Whether a frame begins at an offset that is longer than what is left.
    static func isPartialFrame(
        from start: Int64, of source: any ByteSource, _ codec: AVCodecID, _ format: String
    ) -> Bool {
        guard let rest = rest(from: start, of: source, format) else { return false }
        let length = rest.withUnsafeBufferPointer { FrameHeader.length(codec, $0) }
        return length.map { $0 > source.length - start } ?? false
    }

    /// Whether a block or a tag of WavPack begins at an offset, of which the rest is missing.
    static func isPartOfFile(from start: Int64, of source: any ByteSource, _ format: String) -> Bool {
        let bytes = SourceBytes(source)
        guard format == "wv", let name = try? bytes.text(at: start, 4), ["wvpk", "APET"].contains(name) else {
            return false
        }
        let size = try? bytes.little(at: start + (name == "wvpk" ? 4 : 12), 4)
        return size.map { $0 + (name == "wvpk" ? 8 : 32) > bytes.rest(from: start) } ?? true
    }

    private static func rest(from start: Int64, of source: any ByteSource, _ format: String) -> [UInt8]? {
        guard formats.contains(format), !source.isEndless, start >= 0, (1...most).contains(source.length - start)
        else { return nil }
        return try? SourceBytes(source).read(at: start, Int(min(source.length - start, 16)))
    }

    private static let formats: Set = ["aac", "ac3", "eac3", "dts", "truehd", "mlp", "loas"]
    private static let most: Int64 = 65_536
}
