import FoundationEssentials
import JobSchema

/// What a source is, as JSON that comes from a transcoder.
package enum ProbeText {
    /// The text written anew, so that it is one object of JSON, whose escapes are ours; a message bounds its length.
    package static func checked(_ text: String) throws(ImplausibleReport) -> String {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)), case .object = value else {
            throw ImplausibleReport("a probe that is no object of JSON")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let bytes = try? encoder.encode(value) else { throw ImplausibleReport("a probe that cannot be written") }
        return String(decoding: bytes, as: UTF8.self)
    }
}
