import Lifecycle
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
        case .file(let path): "file://" + PercentEncoding.encoded(path: path)
        }
    }
}
