import Crypto
import FoundationEssentials
package import JobSchema
import Lifecycle

/// The secrets for signing callbacks, in the format of Standard Webhooks; several during key rotation.
package struct CallbackSecrets: Sendable {
    private let keys: [[UInt8]]

    private static let form =
        "whsec_ and 24 to 64 bytes in Base64; `echo whsec_$(openssl rand -base64 32)` makes one"

    /// Parses up to four secrets separated by white space; `origin` is their source, for messages.
    package init(_ text: String, origin: String) throws(Failure) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard (1...4).contains(words.count) else {
            throw Failure(.invalidRequest, "\(origin) has \(words.count) secrets: give 1 to 4, each \(Self.form)")
        }
        var keys: [[UInt8]] = []
        for (index, word) in words.enumerated() {
            guard word.hasPrefix("whsec_"), let key = Data(base64Encoded: String(word.dropFirst(6))),
                (24...64).contains(key.count)
            else { throw Failure(.invalidRequest, "\(origin): secret \(index + 1) is not \(Self.form)") }
            keys.append(Array(key))
        }
        self.keys = keys
    }

    /// The secrets in `RESPOOL_CALLBACK_SECRET`, or in the file `RESPOOL_CALLBACK_SECRET_FILE`; `nil` if neither is
    /// set.
    package static func fromEnvironment() throws(Failure) -> CallbackSecrets? {
        let (name, fileName) = ("RESPOOL_CALLBACK_SECRET", "RESPOOL_CALLBACK_SECRET_FILE")
        guard let path = Environment.value(fileName) else {
            guard let text = Environment.value(name) else { return nil }
            return try CallbackSecrets(text, origin: name)
        }
        guard Environment.value(name) == nil else {
            throw Failure(.invalidRequest, "\(name) and \(fileName) are both set: give one")
        }
        guard let data = FileManager.default.contents(atPath: path), data.count <= 4096 else {
            throw Failure(.invalidRequest, "\(fileName) is `\(path)`, which cannot be read as a file of secrets")
        }
        return try CallbackSecrets(
            String(decoding: data, as: UTF8.self), origin: "the file `\(path)` of \(fileName)")
    }

    /// The header lines with the id, the time and the signatures of the body.
    package func headers(id: String, body: [UInt8], at milliseconds: Int64) -> [String] {
        let seconds = milliseconds / 1000
        let message = Array("\(id).\(seconds).".utf8) + body
        let signatures = keys.map { "v1," + Data(hmacSHA256(message, key: $0)).base64EncodedString() }
        return [
            "Content-Type: application/json", "webhook-id: \(id)", "webhook-timestamp: \(seconds)",
            "webhook-signature: \(signatures.joined(separator: " "))",
        ]
    }
}
