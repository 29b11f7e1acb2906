package import JobSchema

extension Failure {
    /// The failure for an error response of a store, with the store's own message.
    package static func s3(_ head: HTTPHead, _ answer: S3Answer, _ name: String) -> Failure {
        let code = answer["Code"].map { String($0.prefix(64)) } ?? "status \(head.status)"
        let words = (answer["Message"] ?? "no reason given").prefix(200)
        let said = "the store of '\(redactedURL(name))' responded with \(code): \(words)"
        if let region = head["x-amz-bucket-region"] ?? answer["Region"], [301, 307, 400].contains(head.status) {
            return Failure(.sourceDenied, "\(said); its bucket is in the region '\(region.prefix(40))': set AWS_REGION")
        }
        switch code {
        case "PreconditionFailed": return .outputExists(redactedURL(name))
        // In response to a HEAD request, a store sends only the status.
        case "status 404", "NoSuchKey", "NoSuchBucket", "NoSuchUpload": return Failure(.sourceNotFound, said)
        case "RequestTimeout", "SlowDown", "InternalError", "ServiceUnavailable", "OperationAborted",
            "ConditionalRequestConflict":
            return Failure(.sourceUnreachable, said, retryAfter: head.retryAfter)
        // A clock may be corrected, or a token renewed, before the next attempt.
        case "RequestTimeTooSkewed", "ExpiredToken", "TokenRefreshRequired":
            return Failure(.sourceDenied, said, retryable: true)
        default:
            guard head.status >= 500 || head.status == 429 else { return Failure(.sourceDenied, said) }
            return Failure(.sourceUnreachable, said, retryAfter: head.retryAfter)
        }
    }
}
