package import Configuration
import Crypto
import FoundationEssentials

/// The secrets for signing callbacks, in the format of Standard Webhooks; several during key rotation.
package struct CallbackSecrets: Sendable {
    private let keys: [[UInt8]]

    private static let form =
        "whsec_ and 24 to 64 bytes in Base64; `echo whsec_$(openssl rand -base64 32)` makes one"

    /// Parses up to four secrets separated by white space; `origin` is their source, for messages.
    package init(_ text: String, origin: String) throws(SettingError) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard (1...4).contains(words.count) else {
            throw SettingError(message: "\(origin) has \(words.count) secrets: give 1 to 4, each \(Self.form)")
        }
        var keys: [[UInt8]] = []
        for (index, word) in words.enumerated() {
            guard word.hasPrefix("whsec_"), let key = Data(base64Encoded: String(word.dropFirst(6))),
                (24...64).contains(key.count)
            else { throw SettingError(message: "\(origin): secret \(index + 1) is not \(Self.form)") }
            keys.append(Array(key))
        }
        self.keys = keys
    }

    /// The secrets that the environment has, or names a file of.
    package init?(_ environment: Environment) throws(SettingError) {
        let (setting, fileSetting) = (Settings.callbackSecret, Settings.callbackSecretFile)
        guard let path = environment.text(fileSetting) else {
            guard let text = environment.text(setting) else { return nil }
            try self.init(text, origin: setting.name)
            return
        }
        guard environment.text(setting) == nil else {
            throw SettingError(message: "\(setting.name) and \(fileSetting.name) are both set: give one")
        }
        guard let data = FileManager.default.contents(atPath: path), data.count <= 4096 else {
            throw fileSetting.error(path)
        }
        try self.init(
            String(decoding: data, as: UTF8.self), origin: "the file '\(path)' of \(fileSetting.name)")
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
