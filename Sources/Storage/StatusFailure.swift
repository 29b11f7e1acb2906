import JobSchema

extension Failure {
    /// Whether the status may be another in a moment.
    static func isPassing(_ status: Int) -> Bool { status == 408 || status == 429 || status >= 500 }

    /// What a status other than success means for the job.
    ///
    /// 404, 410 and an empty success: there is nothing. 429 and 5xx: come again, and when. 408: too slow. Any other 4xx
    /// refuses this very request, which would be refused again; a redirect that leads nowhere likewise.
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
