/// A scheme of file servers that do not use HTTP; an operator can allow it.
package enum FileScheme: String, Codable, Sendable, CaseIterable {
    case ftp, ftps, sftp

    /// The scheme of the URL; `nil` if it is another one.
    package init?(of url: some StringProtocol) {
        self.init(rawValue: url.prefix { $0 != ":" }.lowercased())
    }
}
