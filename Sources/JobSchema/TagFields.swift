import FoundationEssentials
import MediaTypes

// The fields of tags and chapters.
extension FieldReader {
    func tagSettings() throws(Failure) -> TagSettings {
        TagSettings(metadata: try metadata(), chapters: try chapters())
    }

    /// iconv's name of the character set of wrongly declared tags.
    func tagEncoding() throws(Failure) -> String? {
        guard let text = fields["tag_encoding"] else { return nil }
        guard let name = TagEncoding.named(text) else {
            throw wrong("tag_encoding", oneOf: TagEncoding.names.map { $0.lowercased() })
        }
        return name
    }

    private func chapters() throws(Failure) -> TagSettings.ChapterForm? {
        guard let text = fields["chapters"] else { return nil }
        guard let form = TagSettings.ChapterForm(rawValue: text) else {
            throw wrong("chapters", oneOf: ["json", "webvtt"])
        }
        return form
    }

    private func metadata() throws(Failure) -> [String: [String]] {
        guard let text = fields["metadata"] else { return [:] }
        guard let values = try? JSONDecoder().decode([String: TagValue].self, from: Data(text.utf8)) else {
            throw wrong(
                "metadata", #"a JSON object of strings, or lists of them: {"title": "…", "artist": ["…", "…"]}"#)
        }
        for (name, value) in values {
            guard !name.isEmpty, !name.contains("="), name.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
                throw Self.invalid(
                    "`metadata` has the tag name `\(Self.shown(name))`: a name must not be empty or contain `=`")
            }
            guard !value.texts.contains(where: { $0.utf8.contains(0) }) else {
                throw Self.invalid("`metadata` has a null byte in `\(Self.shown(name))`")
            }
        }
        return values.mapValues(\.texts)
    }

    /// A string, a number, or a list of strings.
    private struct TagValue: Decodable {
        let texts: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                texts = [text]
            } else if let number = try? container.decode(Int.self) {
                texts = [String(number)]
            } else {
                texts = try container.decode([String].self)
            }
        }
    }
}
