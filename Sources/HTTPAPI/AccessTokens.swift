package import Configuration
import Crypto
import FoundationEssentials
import JobSchema

/// The tokens that a server accepts, as the SHA-256 of each.
package struct AccessTokens: Sendable {
    private let entries: [(digest: [UInt8], token: AccessToken)]

    /// The form of a line of the file, for messages and the documentation.
    package static let form =
        "NAME ROLE SHA256 [queue=NAME] [group=PREFIX], with a role of read, push or operate and 64 hexadecimal digits"

    /// Parses a token a line; empty lines and those that begin with `#` are skipped. `origin` is named in errors.
    package init(_ text: String, origin: String) throws(SettingError) {
        var entries: [(digest: [UInt8], token: AccessToken)] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard let entry = Self.entry(words) else {
                throw SettingError(message: "\(origin): line \(index + 1) is not \(Self.form)")
            }
            guard !entries.contains(where: { $0.token.name == first || $0.digest == entry.digest }) else {
                throw SettingError(message: "\(origin): line \(index + 1) repeats a name or a token: give each once")
            }
            entries.append(entry)
        }
        guard !entries.isEmpty else {
            throw SettingError(message: "\(origin) has no token: write a line \(Self.form)")
        }
        self.entries = entries
    }

    /// The tokens of the file that the environment names.
    package init?(_ environment: Environment) throws(SettingError) {
        guard let path = environment.text(Settings.apiTokens) else { return nil }
        guard let data = FileManager.default.contents(atPath: path), data.count <= 1 << 20 else {
            throw Settings.apiTokens.error(path)
        }
        try self.init(String(decoding: data, as: UTF8.self), origin: "\(Settings.apiTokens.name) (\(path))")
    }

    /// Finds a token. All are compared, each in constant time.
    func find(_ text: String) -> AccessToken? {
        let digest = Array(Digest.of(Array(text.utf8)).utf8)
        var found: AccessToken?
        for entry in entries where isEqualInConstantTime(entry.digest, digest) { found = entry.token }
        return found
    }

    private static func entry(_ words: [String]) -> (digest: [UInt8], token: AccessToken)? {
        guard words.count >= 3, KeyName.isValid(words[0]), let role = Role(rawValue: words[1]) else { return nil }
        let digest = words[2].lowercased()
        guard digest.utf8.count == 64, digest.allSatisfy(\.isHexDigit) else { return nil }
        var scope: [String: String] = [:]
        for word in words.dropFirst(3) {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, ["queue", "group"].contains(parts[0]), KeyName.isValid(parts[1]),
                scope.updateValue(parts[1], forKey: parts[0]) == nil
            else { return nil }
        }
        let token = AccessToken(name: words[0], role: role, queue: scope["queue"], groupPrefix: scope["group"])
        return (Array(digest.utf8), token)
    }
}
