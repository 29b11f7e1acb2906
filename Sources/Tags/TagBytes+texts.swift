import Bytes

extension TagBytes {
    /// The texts of an ID3v1 tag at the end of a file.
    static func id3v1(_ source: any ByteSource, charset: String?) throws -> [String: [String]] {
        guard let tag = try SourceBytes(source).read(at: source.length - 128, 128),
            tag.starts(with: Array("TAG".utf8))
        else { return [:] }
        var texts: [String: [String]] = [:]
        for (name, place) in [("TITLE", 3..<33), ("ARTIST", 33..<63), ("ALBUM", 63..<93), ("DATE", 93..<97)] {
            texts[name] = field(tag[place], charset)
        }
        let isSecond = tag[125] == 0 && tag[126] != 0
        texts["COMMENT"] = field(tag[97..<(isSecond ? 125 : 127)], charset)
        if isSecond { texts["TRACKNUMBER"] = [String(tag[126])] }
        if let genre = TagContent.genre(ofID3v1: tag[127]) { texts["GENRE"] = [genre] }
        return texts
    }

    private static func field(_ bytes: ArraySlice<UInt8>, _ charset: String?) -> [String]? {
        var text = TagCharsets.decode(bytes, charset)
        while text.last == " " { text.removeLast() }
        return text.isEmpty ? nil : [text]
    }
}
