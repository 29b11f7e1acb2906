import FoundationEssentials
import Text

/// Encodes a value as one line of JSON.
enum JSONLine {
    static func text(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return "null" }
        return PrintableText.escaped(json: String(decoding: data, as: UTF8.self))
    }
}
