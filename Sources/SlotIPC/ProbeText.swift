import FoundationEssentials
import JobSchema

/// The description of a source, as JSON from a transcoder.
package enum ProbeText {
    /// The text encoded again, so that it is one JSON object with our own escapes; the packet's size limits its length.
    package static func checked(_ text: String) throws(ImplausibleReport) -> String {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)), case .object = value else {
            throw ImplausibleReport("a probe that is not a JSON object")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let bytes = try? encoder.encode(value) else { throw ImplausibleReport("a probe that cannot be encoded") }
        return String(decoding: bytes, as: UTF8.self)
    }
}
