import JobSchema

extension Failure {
    /// Whether the status is temporary.
    static func isPassing(_ status: Int) -> Bool { status == 408 || status == 429 || status >= 500 }

    /// The failure for a status other than success.
    ///
    /// 404, 410, 204 and 205: there is no source. 429 and 5xx: retry, after `Retry-After` if present. 408: a timeout. Any other
    /// 4xx, or a redirect that cannot be followed, would recur on a retry.
    static func status(_ head: HTTPHead, _ url: String) -> Failure {
        let answer = "the server of '\(redactedURL(url))' answered with status \(head.status)"
        return switch head.status {
        case 404, 410: Failure(.sourceNotFound, "there is no '\(redactedURL(url))': status \(head.status)")
        case 204, 205: Failure(.sourceNotFound, "\(answer), which has no content")
        case 401, 407: Failure(.sourceDenied, "\(answer): it asks for credentials, or for others than the URL has")
        case 403, 451: Failure(.sourceDenied, "\(answer): it does not allow this")
        case 408: Failure(.sourceTimeout, "\(answer): it waited too long")
        case 429: Failure(.sourceUnreachable, "\(answer): too many requests", retryAfter: head.retryAfter)
        case 500...599: Failure(.sourceUnreachable, "\(answer): it has a fault", retryAfter: head.retryAfter)
        case 300..<500: Failure(.sourceDenied, "\(answer), which gives no file")
        default: Failure(.sourceUnreachable, "\(answer), which gives no file")
        }
    }
}
