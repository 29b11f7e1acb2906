package import JobSchema
import Text

/// Resolves the references of a playlist against the location of the playlist.
package enum ReferenceURL {
    /// The absolute location of a reference inside the source at `base`. A playlist from a server may not refer to local files.
    package static func resolve(_ reference: String, against base: String) throws(Failure) -> SourceLocation {
        guard !reference.isEmpty else { return try SourceLocation(base) }
        let shown = redactedURL(reference)
        let scheme = reference.prefix { $0 != ":" && $0 != "/" && $0 != "?" && $0 != "#" }
        if reference[scheme.endIndex...].first == ":", !["http", "https", "file"].contains(scheme.lowercased()) {
            throw Failure(
                .policyDenied,
                "the playlist '\(redactedURL(base))' refers to '\(shown)'; only http, https and relative URLs are allowed"
            )
        }
        guard !reference.utf8.contains(0), let text = ParsedURL.resolve(reference, against: try absolute(base)) else {
            throw Failure(
                .corruptMedia, "the playlist '\(redactedURL(base))' refers to '\(shown)', which is not a valid URL")
        }
        let place = try SourceLocation(base)
        if case .object(let playlist) = place, text.hasPrefix("s3://") {
            return .object(try object(text, besides: playlist, shown))
        }
        let location = try SourceLocation(text)
        switch (place, location) {
        case (.web, .file), (.object, .file):
            throw Failure(
                .policyDenied,
                "the playlist '\(redactedURL(base))' refers to the local file '\(shown)', which is not allowed")
        default: return location
        }
    }

    /// An object in the playlist's bucket. Other buckets are refused, because the author of the playlist may not use the
    /// worker's keys for them.
    private static func object(
        _ text: String, besides playlist: S3Object, _ shown: String
    ) throws(Failure) -> S3Object {
        let path = text.prefix { $0 != "?" && $0 != "#" }
        guard let plain = PercentEncoding.decoded(path) else {
            throw Failure(
                .corruptMedia, "the playlist '\(playlist.text)' refers to '\(shown)', which is not a valid URL")
        }
        let object = try S3Object(plain, noun: "source")
        guard object.bucket == playlist.bucket else {
            throw Failure(
                .policyDenied,
                "the playlist '\(playlist.text)' refers to '\(shown)' in another bucket, which is not allowed")
        }
        return object
    }

    private static func absolute(_ base: String) throws(Failure) -> String {
        switch try SourceLocation(base) {
        case .web(let url): url
        case .object(let object): object.encodedURL
        case .file(let path): "file://" + PercentEncoding.encoded(path: path)
        }
    }
}
