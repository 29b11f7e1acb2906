package import Bytes

/// What headers declare about codecs that libav does not know, as they write it.
package enum DeclaredCodec {
    /// The codec of a file's first stream; `nil` if the header is not understood.
    package static func name(_ source: any ByteSource, _ container: Container) throws -> String? {
        guard !source.isEndless else { return nil }
        let bytes = SourceBytes(source)
        switch container {
        case .sun: return try bytes.big(at: 12, 4).map { String($0) }
        case .ape: return try bytes.little(at: 4, 2).map { "Monkey's Audio \($0 / 1000).\($0 / 10 % 100)" }
        case .aiff: return try compression(source).map { quoted($0) }
        case .ogg: return try OggPage(bytes, at: 0)?.headerSize.flatMap { try bytes.read(at: Int64($0), 8) }.map(quoted)
        case .matroska: return try matroskaID(bytes).map { quoted($0) }
        default: return nil
        }
    }

    /// The compression type of an AIFF-C file, four characters; `nil` if it declares none.
    package static func compression(_ source: any ByteSource) throws -> [UInt8]? {
        guard try SourceBytes(source).text(at: 8, 4) == "AIFC", let common = try ChunkList(source).body("COMM"),
            common.count >= 22
        else { return nil }
        return Array(common[18..<22])
    }

    /// The type of the sample entry of an MP4 or QuickTime track (ISO 14496-12, 8.5.2); `nil` without a valid one.
    package static func sampleEntry(_ source: any ByteSource, track: Int) throws -> String? {
        let bytes = SourceBytes(source)
        let file = Box(name: "", body: 0, end: source.length)
        guard let movie = try file.first("moov", bytes),
            case let tracks = try movie.children(bytes).filter({ $0.name == "trak" }), tracks.indices.contains(track),
            let media = try tracks[track].first("mdia", bytes)?.first("minf", bytes),
            let list = try media.first("stbl", bytes)?.first("stsd", bytes)
        else { return nil }
        // A version with flags, and the number of entries.
        return try list.child(at: list.body + 8, bytes)?.name
    }

    /// The `CodecID` of the first track with one in a Matroska file (RFC 9559, section 5.1.4.1).
    private static func matroskaID(_ bytes: SourceBytes) throws -> [UInt8]? {
        var (offset, end) = (Int64(0), bytes.rest(from: 0))
        var wanted: [Int64] = [0x1853_8067, 0x1654_AE6B, 0xAE, 0x86]
        for _ in 0..<maxElements {
            guard offset < end, let first = try bytes.read(at: offset, 1)?[0],
                let id = try bytes.big(at: offset, first.leadingZeroBitCount + 1),
                let element = try bytes.element(at: offset)
            else { return nil }
            let next = element.size.map { element.body.adding($0) } ?? end
            guard id == wanted.first else {
                offset = next
                continue
            }
            wanted.removeFirst()
            if wanted.isEmpty { return try bytes.read(at: element.body, Int(min(next - element.body, maxName))) }
            (offset, end) = (element.body, min(next, end))
        }
        return nil
    }

    /// More elements than stand before the first track, and a longer name than any codec has.
    private static let (maxElements, maxName): (Int, Int64) = (1000, 64)

    /// The printable characters of some bytes, without spaces.
    private static func quoted(_ bytes: [UInt8]) -> String {
        "'\(String(decoding: bytes.filter { (0x21..<0x7F).contains($0) }, as: UTF8.self))'"
    }
}
