import JobSchema

// Failures caused by a server that misbehaves while it sends a source.
extension Failure {
    static func encoded(_ encoding: String, _ url: String) -> Failure {
        Failure(
            .unsupportedFormat,
            "the server of '\(redactedURL(url))' sends it as '\(encoding.prefix(40))', although asked for the plain bytes"
        )
    }

    static func overlong(_ url: String) -> Failure {
        Failure(.sourceUnreachable, "the server of '\(redactedURL(url))' sent more bytes than it announced")
    }

    static func endlessHeader(_ url: String) -> Failure {
        Failure(.sourceUnreachable, "the server of '\(redactedURL(url))' sent an endless header")
    }

    static func overLimit(_ size: Int64, _ limit: Int64, _ url: String) -> Failure {
        Failure(.tooLarge, "the source '\(redactedURL(url))' has \(size) bytes or more, over the limit of \(limit)")
    }

    static func withoutParts(_ url: String) -> Failure {
        Failure(
            .sourceTruncated,
            "the connection to the source '\(redactedURL(url))' broke, and its server sends no parts", retryable: true)
    }

    static func redirects(_ how: String, _ url: String) -> Failure {
        Failure(.policyDenied, "the server of the source '\(redactedURL(url))' redirects \(how)")
    }
}
