import MediaTypes

/// Tags of ID3 whose deflated frames libav would inflate, as often and as far as a few bytes say.
enum DeflatedTags {
    /// The source with such tags marked as of a version that libav passes over; nothing else of them is read through it.
    static func hidden(_ source: any ByteSource, _ format: String) throws -> any ByteSource {
        guard !source.isEndless else { return source }
        let bytes = SourceBytes(source)
        let swollen = try places(source, bytes, format).filter {
            try declaredBytes(bytes, $0) > Int64(Metadata.mostBytes)
        }
        return swollen.isEmpty ? source : RemarkedSource(source, Set(swollen.map { $0 + 3 }))
    }

    /// Where the tags begin: those in front, of which there may be several, and the one in a chunk.
    private static func places(_ source: any ByteSource, _ bytes: SourceBytes, _ format: String) throws -> [Int64] {
        var places: [Int64] = []
        var offset: Int64 = 0
        while places.count < 100, case let size = try TagBytes.id3Size(source, at: offset), size > 0 {
            places.append(offset)
            offset += size
        }
        guard ["wav", "aiff"].contains(format) else { return places }
        let chunks = try ChunkList(source, isBigEndian: format == "aiff").entries
        return places + chunks.filter { ["id3 ", "ID3 "].contains($0.name) }.map(\.body)
    }

    /// What the deflated frames of a tag say that they inflate to.
    private static func declaredBytes(_ bytes: SourceBytes, _ tag: Int64) throws -> Int64 {
        guard let head = try bytes.read(at: tag, 10), head.starts(with: "ID3".utf8), head[3] == 3 || head[3] == 4
        else { return 0 }
        let end = tag + 10 + Int64(head[6...].reduce(0) { $0 << 7 | Int($1 & 0x7F) })
        var waiting = [tag + 10]
        if head[5] & 0x40 != 0, let size = try bytes.read(at: tag + 10, 4) {
            let length = size.reduce(Int64(0)) { $0 << 7 | Int64($1 & 0x7F) }
            waiting = [tag + 10 + length + (head[3] == 4 ? 0 : 4)]
        }
        var seen: Set<Int64> = []
        var declared: Int64 = 0
        while let frame = waiting.popLast(), seen.count < 10_000 {
            guard frame <= end - 10, seen.insert(frame).inserted, let fields = try bytes.read(at: frame, 10),
                fields[0] != 0
            else { continue }
            let size = fields[4..<8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
            let short = fields[4..<8].reduce(Int64(0)) { $0 << 7 | Int64($1 & 0x7F) }
            // libav looks for these two bits whatever the version, and takes four whole bytes for the length.
            if fields[9] & 0x08 != 0 {
                declared += fields[9] & 0x01 != 0 ? try bytes.big(at: frame + 10, 4) ?? 0 : size
            }
            // Of the two ways to read a size it takes the one behind which a frame seems to follow.
            waiting.append(frame + 10 + size)
            if head[3] == 4 { waiting.append(frame + 10 + short) }
        }
        return declared
    }
}

/// A source in which the version of some tags is one that nobody knows.
private final class RemarkedSource: ByteSource {
    private let source: any ByteSource
    private let places: Set<Int64>

    init(_ source: any ByteSource, _ places: Set<Int64>) { (self.source, self.places) = (source, places) }

    var length: Int64 { source.length }
    var isAllPresent: Bool { source.isAllPresent }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let count = try source.read(into: buffer, at: offset)
        for place in places where (offset..<offset + Int64(count)).contains(place) { buffer[Int(place - offset)] = 9 }
        return count
    }
}
