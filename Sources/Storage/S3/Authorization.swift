import CCurl
import SlotIPC

/// Who asks, as a server wants to be told.
enum Authorization: Sendable {
    /// The URL says it, or nobody does.
    case none
    case s3(S3Keys, region: String)
}

extension CurlHandle {
    /// Has libcurl sign the request.
    ///
    /// What is sent with it must be known here: libcurl 7.88 signs every line of `setHeader`, even one that takes a header
    /// away, and neither sums the body nor sorts the query as S3 wants it.
    mutating func authorize(_ authorization: Authorization) {
        guard case .s3(let keys, let region) = authorization else { return }
        set(CURLOPT_AWS_SIGV4, "aws:amz:\(region):s3")
        set(CURLOPT_USERNAME, keys.identifier)
        set(CURLOPT_PASSWORD, keys.secret)
        set(CURLOPT_PATH_AS_IS, 1)
        if let token = keys.sessionToken { setHeader(["x-amz-security-token: \(token)"]) }
    }
}
