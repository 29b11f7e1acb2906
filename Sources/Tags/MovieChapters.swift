import Bytes
import CLibav
import Demuxing

/// Reads what libav does not read of the chapters of an MPEG-4 or QuickTime file.
enum MovieChapters {
    /// The chapters of Nero's list, the box `chpl`, in a whole `udta` box. Version 1 counts them in four bytes, of which libav reads
    /// the last one.
    static func listed(_ user: [UInt8]) -> [Metadata.Chapter] {
        var rest = user.dropFirst(8)
        while rest.count >= 8 {
            let size = Int(number(rest.prefix(4)))
            guard size >= 8, size <= rest.count else { break }
            if rest.dropFirst(4).starts(with: "chpl".utf8) { return entries(rest.prefix(size).dropFirst(8)) }
            rest = rest.dropFirst(size)
        }
        return []
    }

    private static func entries(_ box: ArraySlice<UInt8>) -> [Metadata.Chapter] {
        // Version and flags; in version 1 also a reserved byte.
        let (head, width) = box.first == 0 ? (4, 1) : (5, 4)
        let count = number(box.dropFirst(head).prefix(width))
        var (rest, chapters) = (box.dropFirst(head + width), [Metadata.Chapter]())
        while chapters.count < count, rest.count >= 9 {
            // In units of 100 ns.
            let start = number(rest.prefix(8)).multipliedReportingOverflow(by: 100)
            let length = Int(rest[rest.startIndex + 8])
            guard start.partialValue >= 0, !start.overflow, rest.count >= 9 + length else { break }
            let title = String(decoding: rest.dropFirst(9).prefix(length), as: UTF8.self)
            chapters.append(Metadata.Chapter(start: start.partialValue, end: .max, title: title))
            rest = rest.dropFirst(9 + length)
        }
        for index in chapters.indices.dropLast() {
            chapters[index].end = max(chapters[index + 1].start, chapters[index].start)
        }
        return chapters
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 { bytes.reduce(0) { $0 << 8 | Int64($1) } }

    /// The chapters of a list and those of libav, which are the same ones if the file has both forms.
    ///
    /// libav's muxer begins a chapter track with its first chapter, wherever that one starts, so the list's times are used.
    static func joined(_ list: [Metadata.Chapter], _ seen: [Metadata.Chapter]) -> [Metadata.Chapter] {
        guard list.count <= seen.count else { return list }
        let isSame = list.count == seen.count && zip(list, seen).allSatisfy { $1.title.hasPrefix($0.title) }
        guard isSame else { return seen }
        return zip(list, seen).map {
            Metadata.Chapter(start: $0.start, end: max($0.start, $1.end), title: $1.title)
        }
    }

    /// The titles of a chapter track in UTF-16, by the number of its sample: behind such a title, libav reads two bytes too many.
    static func wideTitles(_ demuxer: borrowing Demuxer) throws -> [Int64: String] {
        let bytes = SourceBytes(demuxer.bytes)
        var titles: [Int64: String] = [:]
        for index in 0..<Int(demuxer.context.pointee.nb_streams) {
            let stream = demuxer.stream(index)
            guard stream.pointee.codecpar.pointee.codec_id == AV_CODEC_ID_BIN_DATA else { continue }
            let count = min(avformat_index_get_entries_count(stream), CInt(demuxer.context.pointee.nb_chapters))
            for number in 0..<count {
                guard let entry = avformat_index_get_entry(stream, number)?.pointee else { continue }
                titles[Int64(number)] = try wideTitle(bytes, at: entry.pos, Int(entry.size))
            }
        }
        return titles
    }

    /// A text sample behind a byte order mark; `nil` if it is in UTF-8.
    private static func wideTitle(_ bytes: SourceBytes, at offset: Int64, _ size: Int) throws -> String? {
        guard let head = try bytes.read(at: offset, 4) else { return nil }
        let length = Int(head[0]) << 8 | Int(head[1])
        let isLittle = head[2...] == [0xFF, 0xFE]
        guard isLittle || head[2...] == [0xFE, 0xFF], length >= 2, length <= size - 2,
            let text = try bytes.read(at: offset + 4, length - 2)
        else { return nil }
        let units = stride(from: 0, to: text.count - 1, by: 2).map { place -> UInt16 in
            let (first, second) = (UInt16(text[place]), UInt16(text[place + 1]))
            return isLittle ? second << 8 | first : first << 8 | second
        }
        return String(decoding: units.prefix { $0 != 0 }, as: UTF16.self)
    }
}
