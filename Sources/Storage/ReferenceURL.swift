package import SlotProtocol

/// Resolves what a playlist names against where the playlist itself came from.
package enum ReferenceURL {
    /// The absolute URL of a reference inside the source at `base`; what came from the web names nothing but the web.
    package static func resolve(_ reference: String, against base: String) throws(Failure) -> SourceLocation {
        guard !reference.isEmpty else { return try SourceLocation(base) }
        let shown = redactedURL(reference)
        let scheme = reference.prefix { $0 != ":" && $0 != "/" && $0 != "?" && $0 != "#" }
        if reference[scheme.endIndex...].first == ":", !["http", "https", "file"].contains(scheme.lowercased()) {
            throw Failure(
                .policyDenied,
                "the playlist '\(redactedURL(base))' names '\(shown)'; only http, https and relative names are allowed")
        }
        guard !reference.utf8.contains(0), let text = ParsedURL.resolve(reference, against: try absolute(base)) else {
            throw Failure(.corruptMedia, "the playlist '\(redactedURL(base))' names '\(shown)', which is no valid URL")
        }
        let location = try SourceLocation(text)
        if case .file = location, case .web = try SourceLocation(base) {
            throw Failure(
                .policyDenied,
                "the playlist '\(redactedURL(base))' names the file '\(shown)' of this machine, which is not allowed")
        }
        return location
    }

    private static func absolute(_ base: String) throws(Failure) -> String {
        switch try SourceLocation(base) {
        case .web(let url): url
        case .file(let path): "file://" + encoded(path)
        }
    }

    /// The path percent-encoded, but for what RFC 3986 section 3.3 allows in one.
    private static func encoded(_ path: String) -> String {
        path.utf8.reduce(into: "") { text, byte in
            if (0x21...0x7e).contains(byte), !Array("%?#\"<>\\^`{|}".utf8).contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
