import Bytes
import Containers
import MediaTypes

/// Hides tags that respool leaves out or reads itself, and that libav would keep in memory: ID3 tags that are too large, or whose
/// compressed frames libav would inflate as often and as far as a few bytes declare, pictures of FLAC, and comments of Ogg, tags of
/// MPEG-4 and attachments of Matroska that are too large.
enum DeflatedTags {
    /// Marks such tags with a version that libav skips. Also limits the number of tags at the start: the tag after the last
    /// allowed one is made unrecognizable. `attachmentBytes` becomes the size of attachments that are hidden.
    static func hidden(
        _ source: any ByteSource, _ tags: TagForm, attachmentBytes: inout Int64
    ) throws -> any ByteSource {
        guard !source.isEndless else { return source }
        let bytes = SourceBytes(source)
        var (places, end) = try TagBytes.leading(source)
        var marks: [Int64: UInt8] = [:]
        if try TagBytes.id3Size(source, at: end) > 0 { marks[end + 3] = 0xFF }
        if case .chunks = tags {
            let chunks = try ChunkList(source).entries
            places += chunks.filter { ["id3 ", "ID3 "].contains($0.name) }.map(\.body)
        }
        for place in places {
            let size = try max(TagBytes.id3Size(source, at: place), declaredBytes(bytes, place))
            if size > Int64(Metadata.maxBytes) { marks[place + 3] = 9 }
        }
        switch tags {
        case .flacBlocks:
            // Padding instead.
            let blocks = try FlacBlocks(source)?.blocks ?? []
            for block in blocks where block.kind == 6 { marks[block.body - 4] = block.isLast ? 0x81 : 1 }
            // libav reads no more blocks than are known here.
            if blocks.count == FlacBlocks.maxBlocks, let last = blocks.last { marks[last.body - 4] = 0x81 }
        case .movieBoxes:
            guard let user = try MovieTags(source), user.size > 2 * Int64(Metadata.maxBytes) else { break }
            for (index, letter) in "free".utf8.enumerated() { marks[user.start + 4 + Int64(index)] = letter }
        case .oggComment: return try OggComment(source)?.shortened() ?? source
        case .attachments:
            guard source.length > Int64(Metadata.maxCopiedBytes) else { break }
            let attachments = try MatroskaAttachments(source)
            if attachments.size > Int64(Metadata.maxCopiedBytes) {
                (marks, attachmentBytes) = (attachments.voids, attachments.size)
            }
        case .libav, .ends, .chunks, .asfHeader: break
        }
        return marks.isEmpty ? source : CorrectedSource(source, marks)
    }

    /// The total size that a tag's compressed frames declare.
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
            // libav tests these two bits in all versions, and reads the length as four whole bytes.
            if fields[9] & 0x08 != 0 {
                declared += fields[9] & 0x01 != 0 ? try bytes.big(at: frame + 10, 4) ?? 0 : size
            }
            // Of the two possible sizes, libav uses the one that seems to be followed by a frame.
            waiting.append(frame + 10 + size)
            if head[3] == 4 { waiting.append(frame + 10 + short) }
        }
        return declared
    }
}
