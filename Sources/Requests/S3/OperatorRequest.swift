import CCurl
import Glibc
import JobSchema

/// A short, blocking request to a server that the operator's settings name.
enum OperatorRequest {
    /// Collects the response body, up to a limit.
    private final class Body {
        var bytes: [UInt8] = []

        func take(_ more: UnsafeRawBufferPointer) -> Int {
            bytes += more
            return bytes.count <= 64 << 10 ? more.count : 0
        }
    }

    /// The body of the response. Fails after 3 seconds.
    static func answer(
        of url: String, _ header: [String], method: String, certificateFile: String?
    ) throws(Failure) -> [UInt8] {
        guard var handle = CurlHandle.create() else { throw Failure(.internal, "libcurl: out of memory for a request") }
        let body = Body()
        handle.set(CURLOPT_URL, url)
        handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
        handle.set(CURLOPT_CUSTOMREQUEST, method)
        handle.setNoProxy()
        handle.set(CURLOPT_NOSIGNAL, 1)
        handle.set(CURLOPT_CONNECTTIMEOUT_MS, 1000)
        handle.set(CURLOPT_TIMEOUT_MS, 3000)
        if let certificateFile { handle.set(CURLOPT_CAINFO, certificateFile) }
        handle.setHeader(header)
        handle.set(CURLOPT_WRITEDATA, Unmanaged.passUnretained(body).toOpaque())
        handle.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, opaque in
            Unmanaged<Body>.fromOpaque(opaque!).takeUnretainedValue()
                .take(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        let code = curl_easy_perform(handle.pointer)
        let answer = body.bytes
        var status = 0
        _ = curl_swift_get_long(handle.pointer, CURLINFO_RESPONSE_CODE, &status)
        guard code == CURLE_OK, status == 200 else {
            let reason = code == CURLE_OK ? "status \(status)" : String(cString: curl_easy_strerror(code))
            throw Failure(
                .sourceDenied, "'\(redactedURL(url))' returns none: \(reason)", retryable: true)
        }
        return answer
    }
}
