package import JobSchema

extension Failure {
    /// Whether the status is temporary.
    package static func isPassing(_ status: Int) -> Bool { status == 408 || status == 429 || status >= 500 }

    /// The failure for a status other than success.
    ///
    /// 404, 410, 204 and 205: there is no source. 429 and 5xx: retry, after `Retry-After` if present. 408: a timeout. Any other
    /// 4xx, or a redirect that cannot be followed, would recur on a retry.
    package static func status(_ head: HTTPHead, _ url: String) -> Failure {
        let answer = "the server of '\(redactedURL(url))' responded with status \(head.status)"
        return switch head.status {
        case 404, 410: Failure(.sourceNotFound, "'\(redactedURL(url))' does not exist: status \(head.status)")
        case 204, 205: Failure(.sourceNotFound, "\(answer), which has no content")
        case 401, 407: Failure(.sourceDenied, "\(answer): the credentials are missing or wrong")
        case 403, 451: Failure(.sourceDenied, "\(answer): access denied")
        case 408: Failure(.sourceTimeout, "\(answer): the request timed out")
        case 429: Failure(.sourceUnreachable, "\(answer): too many requests", retryAfter: head.retryAfter)
        case 500...599: Failure(.sourceUnreachable, "\(answer): server error", retryAfter: head.retryAfter)
        case 300..<500: Failure(.sourceDenied, "\(answer), which returns no file")
        default: Failure(.sourceUnreachable, "\(answer), which returns no file")
        }
    }

    static func endlessHeader(_ url: String) -> Failure {
        Failure(.sourceUnreachable, "the header from the server of '\(redactedURL(url))' is too long")
    }
}
