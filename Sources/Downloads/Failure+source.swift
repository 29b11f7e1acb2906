import JobSchema

// Failures caused by a server that misbehaves while it sends a source.
extension Failure {
    static func encoded(_ encoding: String, _ url: String) -> Failure {
        Failure(
            .unsupportedFormat,
            "the server of '\(redactedURL(url))' sends the content encoding '\(encoding.prefix(40))', although identity was requested"
        )
    }

    static func overlong(_ url: String) -> Failure {
        Failure(.sourceUnreachable, "the server of '\(redactedURL(url))' sent more bytes than it declared")
    }

    static func overLimit(_ size: Int64, _ limit: Int64, _ url: String) -> Failure {
        Failure(.tooLarge, "the source '\(redactedURL(url))' has \(size) bytes or more, over the limit of \(limit)")
    }

    /// The rest of a source cannot be requested: the server has no ranges, or nothing that names the version of the bytes.
    static func withoutParts(_ url: String, mayKnowRanges: Bool) -> Failure {
        let why =
            mayKnowRanges
            ? "sends no strong ETag and no Last-Modified, without which the rest cannot be requested"
            : "does not support range requests"
        return Failure(
            .sourceTruncated, "the connection to the source '\(redactedURL(url))' failed, and its server \(why)",
            retryable: true)
    }

    static func tooManyRedirects(_ url: String) -> Failure {
        redirects("too many times; see RESPOOL_MAX_REDIRECTS", url)
    }

    static func redirects(_ how: String, _ url: String) -> Failure {
        Failure(.policyDenied, "the server of the source '\(redactedURL(url))' redirects \(how)")
    }
}
