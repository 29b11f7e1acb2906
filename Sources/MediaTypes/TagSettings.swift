/// How a source's tags, pictures and chapters are changed. By default everything is copied.
package struct TagSettings: Codable, Hashable, Sendable {
    /// Tag values to set, by their names in a job. An empty list, or only empty values, remove a tag.
    package var metadata: [String: [String]]
    /// The format of a separate chapter file beside the audio; `nil` for none.
    package var chapters: ChapterForm?

    package init(metadata: [String: [String]] = [:], chapters: ChapterForm? = nil) {
        self.metadata = metadata
        self.chapters = chapters
    }

    /// A format of a chapter file.
    package enum ChapterForm: String, Codable, Hashable, Sendable, CaseIterable {
        /// Podcasting 2.0's JSON chapters.
        case json
        case webvtt

        /// The suffix of the audio file's stem.
        package var partName: String { self == .json ? ".chapters.json" : ".chapters.vtt" }
    }
}

/// The character sets of wrongly declared tags.
package enum TagEncoding {
    /// iconv's names.
    package static let names = [
        "CP1251", "KOI8-R", "KOI8-U", "CP866", "GB18030", "GBK", "BIG5", "BIG5-HKSCS", "SHIFT_JIS", "CP932", "EUC-JP",
        "EUC-KR", "CP949", "CP874", "CP1250", "CP1252", "CP1253", "CP1254", "CP1255", "CP1256", "CP1257", "CP1258",
        "ISO-8859-2", "ISO-8859-5", "ISO-8859-7", "ISO-8859-9", "ISO-8859-15", "MACINTOSH", "UTF-8",
    ]

    /// iconv's name for a character set, in any case and with or without dashes; `nil` if it is unknown.
    package static func named(_ text: String) -> String? {
        let wanted = key(text)
        return names.first { key($0) == wanted } ?? aliases[wanted]
    }

    private static func key(_ text: String) -> String {
        String(text.lowercased().filter { $0 != "-" && $0 != "_" && $0 != " " })
    }

    private static let aliases = [
        "windows1251": "CP1251", "windows1250": "CP1250", "windows1252": "CP1252", "windows1253": "CP1253",
        "windows1254": "CP1254", "windows1255": "CP1255", "windows1256": "CP1256", "windows1257": "CP1257",
        "windows1258": "CP1258", "sjis": "SHIFT_JIS", "windows31j": "CP932", "ms932": "CP932", "gb2312": "GBK",
        "cp936": "GBK", "uhc": "CP949", "ibm866": "CP866", "tis620": "CP874", "windows874": "CP874",
        "cp950": "BIG5", "macroman": "MACINTOSH",
    ]
}
