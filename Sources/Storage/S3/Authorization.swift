import CCurl
import SlotIPC

/// How a request is authenticated.
enum Authorization: Sendable {
    /// No separate credentials; the URL or a header line may contain some.
    case none
    case s3(S3Keys, region: String)
}

extension CurlHandle {
    /// Makes libcurl sign the request.
    ///
    /// The caller must set what libcurl does not handle: libcurl 7.88 signs every line of `setHeader`, even one that removes a
    /// header, and neither hashes the body nor sorts the query as S3 requires.
    mutating func authorize(_ authorization: Authorization) {
        guard case .s3(let keys, let region) = authorization else { return }
        set(CURLOPT_AWS_SIGV4, "aws:amz:\(region):s3")
        set(CURLOPT_USERNAME, keys.identifier)
        set(CURLOPT_PASSWORD, keys.secret)
        set(CURLOPT_PATH_AS_IS, 1)
        if let token = keys.sessionToken { setHeader(["x-amz-security-token: \(token)"]) }
    }
}
