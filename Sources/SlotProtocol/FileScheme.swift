/// A scheme of sources on servers that do not speak HTTP, which an operator may allow.
package enum FileScheme: String, Codable, Sendable, CaseIterable {
    case ftp, ftps, sftp

    /// The scheme of the URL; nothing if it is another.
    package init?(of url: some StringProtocol) {
        self.init(rawValue: url.prefix { $0 != ":" }.lowercased())
    }
}
