import Bytes
import CTagLib
import Containers

/// Reads and writes the tags of RIFF and AIFF files: `LIST` `INFO`, an ID3v2 tag, `bext`, and `cue ` with its notes.
enum WaveTags {
    static func read(_ source: any ByteSource, charset: String?, maxBytes most: Int) throws -> Metadata {
        let list = try ChunkList(source, maxBytes: most)
        var metadata = Metadata()
        if let entry = list.entries.first(where: { ["id3 ", "ID3 "].contains($0.name) }) {
            if let bytes = try list.body(entry) {
                metadata = try TagReader.parsed(TAG_FORM_ID3, bytes, charset: charset)
            } else {
                metadata.warnings.append(TagReader.tooLarge(entry.size, most))
            }
        }
        metadata.fill(from: Metadata(texts: try info(list, charset)))
        // The numbers in the other chunks are little-endian.
        guard !list.isBigEndian else { return metadata }
        metadata.wave.broadcast = try list.body("bext").flatMap { BroadcastExtension($0) }
        metadata.wave.cues = try cues(list)
        for entry in list.entries where WaveMetadata.keptChunks.contains(entry.name) {
            guard let bytes = try list.body(entry) else { continue }
            metadata.wave.chunks.append(WaveMetadata.Chunk(name: entry.name, bytes: bytes))
        }
        return metadata
    }

    private static func info(_ list: ChunkList, _ charset: String?) throws -> [String: [String]] {
        var texts: [String: [String]] = [:]
        for (name, bytes) in try list.lists("INFO").flatMap(list.children) {
            guard let name = infoNames.first(where: { $0.chunk == name })?.tag else { continue }
            let text = TagCharsets.decode(bytes, charset)
            if !text.isEmpty { texts[name, default: []].append(text) }
        }
        return texts
    }

    private static func cues(_ list: ChunkList) throws -> [CuePoint] {
        guard let bytes = try list.body("cue "), bytes.count >= 4 else { return [] }
        let all = try list.lists("adtl").flatMap(list.children).filter { $0.bytes.count >= 4 }
        var notes = Dictionary(grouping: all) { word($0.bytes, 0) }
        var cues: [CuePoint] = []
        var offset = 4
        while offset + 24 <= bytes.count {
            let number = word(bytes, offset)
            // Notes are assigned only once to a number. Otherwise many points with the same number would multiply the size.
            let own = (notes.removeValue(forKey: number) ?? []).map {
                CuePoint.Note(kind: $0.name, bytes: Array($0.bytes.dropFirst(4)))
            }
            cues.append(CuePoint(number: number, position: Int64(word(bytes, offset + 20)), notes: own))
            offset += 24
        }
        return cues.sorted { $0.position < $1.position }
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<(offset + 4)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// All chunks except `bext`, to append after the audio of a RIFF file.
    static func chunks(_ metadata: Metadata, id3: [UInt8]?) -> [UInt8] {
        var result: [UInt8] = []
        if !metadata.wave.cues.isEmpty { result += cueChunks(metadata.wave.cues) }
        for chunk in metadata.wave.chunks { result += ChunkList.chunk(chunk.name, chunk.bytes) }
        let info = infoNames.flatMap { chunk, tag -> [UInt8] in
            guard isWritten(chunk), let values = metadata.texts[tag] else { return [] }
            return ChunkList.chunk(chunk, Array(values.joined(separator: "; ").utf8) + [0])
        }
        if !info.isEmpty { result += ChunkList.chunk("LIST", Array("INFO".utf8) + info) }
        if let id3 { result += ChunkList.chunk("id3 ", id3) }
        return result
    }

    private static func cueChunks(_ cues: [CuePoint]) -> [UInt8] {
        var points = littleEndian(UInt64(cues.count), 4)
        var notes = Array("adtl".utf8)
        for cue in cues {
            let number = littleEndian(UInt64(cue.number), 4)
            let position = littleEndian(UInt64(UInt32(clamping: cue.position)), 4)
            points += number + position
            points += Array("data".utf8) + [UInt8](repeating: 0, count: 8)
            points += position
            for note in cue.notes { notes += ChunkList.chunk(note.kind, number + note.bytes) }
        }
        let list = notes.count > 4 ? ChunkList.chunk("LIST", notes) : []
        return ChunkList.chunk("cue ", points) + list
    }

    /// If a tag has two chunk names, only the first one is written.
    private static func isWritten(_ chunk: String) -> Bool {
        infoNames.first { $0.tag == infoNames.first { $0.chunk == chunk }?.tag }?.chunk == chunk
    }

    private static let infoNames: [(chunk: String, tag: String)] = [
        ("INAM", "TITLE"), ("IART", "ARTIST"), ("IPRD", "ALBUM"), ("ICMT", "COMMENT"), ("ICRD", "DATE"),
        ("IGNR", "GENRE"), ("IPRT", "TRACKNUMBER"), ("ITRK", "TRACKNUMBER"), ("ICOP", "COPYRIGHT"),
        ("IENG", "ENGINEER"), ("IMUS", "COMPOSER"), ("IWRI", "LYRICIST"), ("ILNG", "LANGUAGE"), ("IKEY", "KEYWORDS"),
        ("ISBJ", "SUBJECT"), ("ISRC", "SOURCE"), ("ITCH", "ENCODEDBY"), ("IMED", "MEDIA"), ("IPRO", "PRODUCER"),
    ]
}
