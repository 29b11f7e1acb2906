/// A scheme of servers of files, which do not speak HTTP, and which an operator may allow.
package enum FileScheme: String, Codable, Sendable, CaseIterable {
    case ftp, ftps, sftp

    /// The scheme of the URL; nothing if it is another.
    package init?(of url: some StringProtocol) {
        self.init(rawValue: url.prefix { $0 != ":" }.lowercased())
    }
}
