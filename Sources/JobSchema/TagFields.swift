import FoundationEssentials
import MediaTypes

// The fields of tags and chapters.
extension FieldReader {
    func tagSettings() -> TagSettings { TagSettings(metadata: metadata(), chapters: word("chapters")) }

    private func metadata() -> [String: [String]] {
        guard let text = fields["metadata"] else { return [:] }
        guard let values = try? JSONDecoder().decode([String: TagValue].self, from: Data(text.utf8)) else {
            refuse(
                "metadata",
                mustBe: #"a JSON object of strings, or lists of them: {"title": "…", "artist": ["…", "…"]}"#)
            return [:]
        }
        for (name, value) in values {
            if name.isEmpty || name.contains("=") || name.unicodeScalars.contains(where: { $0.value < 0x20 }) {
                refuse(
                    "metadata",
                    "`metadata` has the tag name `\(Self.shown(name))`: a name must not be empty or contain `=`")
            } else if value.texts.contains(where: { $0.utf8.contains(0) }) {
                refuse("metadata", "`metadata` has a null byte in `\(Self.shown(name))`")
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
