import CCurl
import Crypto
import JobSchema
import Lifecycle
import SlotIPC

/// One HTTP request: for a source or a part of it, for an output, or for a callback or traces.
final class HTTPClientRequest: RemoteRequest {
    private let mayBeRedirected: Bool
    private var isRedirected = false
    /// Bytes of the body of a redirect response.
    private var redirectionBytes = 0
    /// The response body in which a store explains a refusal.
    private var refusal: [UInt8] = []

    private static let maxRefusal = 16 << 10

    /// A request for the range, or for the whole source. `condition` is the validator that a part must match (`If-Range`), or
    /// that the whole source must not match (`If-None-Match`).
    init(
        _ target: RequestTarget, range: (from: Int64, to: Int64?)?, condition: String?, redirects: Int,
        policy: TransferPolicy, addresses: AddressPolicy, owner: any Owner
    ) throws(Failure) {
        mayBeRedirected = !target.isObject
        try super.init(
            target, noun: "the source", range: range, redirects: redirects, timeout: policy.connectTimeout,
            policy: policy, addresses: addresses, owner: owner)
        configure()
        // All requests to a server that supports HTTP/2 share one connection. CURLOPT_PIPEWAIT is not set, because the
        // connection to wait for may be paused.
        if route.isSecure { handle.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS) }
        // A proxy in front of a store may change `Accept-Encoding`, which would invalidate the signature.
        var lines = target.isObject ? [] : ["Accept-Encoding: identity"]
        if range == nil, !target.isObject { lines.append("Icy-MetaData: 1") }
        handle.acceptStatusLine("ICY 200 OK")
        if let range {
            handle.set(CURLOPT_RANGE, "\(range.from)-\(range.to.map { String($0 - 1) } ?? "")")
            if let condition { lines.append("If-Range: \(condition)") }
        } else if let condition {
            lines.append("If-None-Match: \(condition)")
        }
        handle.setHeader(try target.signed(lines, method: "GET") { Digest.of([]) })
    }

    /// A request that posts a callback or traces.
    init(
        posting message: PostRequest, policy: TransferPolicy, addresses: AddressPolicy, owner: any Owner
    ) throws(Failure) {
        mayBeRedirected = false
        try super.init(
            RequestTarget(url: message.url), noun: "the receiver", timeout: PostRequest.timeout, policy: policy,
            addresses: addresses, owner: owner)
        configure()
        handle.setHeader(message.headers)
        handle.set(CURLOPT_TIMEOUT_MS, Int(timeout * 1000))
        handle.post(Array(message.body))
    }

    /// A request that modifies a store, with or without a body.
    init(
        _ message: StoreMessage, to target: RequestTarget, policy: TransferPolicy, addresses: AddressPolicy,
        owner: any Owner
    ) throws(Failure) {
        mayBeRedirected = false
        try super.init(
            target, noun: "the output", timeout: policy.connectTimeout, firstByteTimeout: message.firstByteTimeout,
            policy: policy,
            addresses: addresses, owner: owner)
        configure()
        let lines = try target.signed(message.headers, method: message.method) { () throws(Failure) in
            try message.body.sum()
        }
        handle.setHeader(lines)
        switch message.body {
        case .none where message.method == "HEAD": handle.set(CURLOPT_NOBODY, 1)
        case .none: break
        case .bytes(let bytes): handle.post(bytes)
        case .file(let file): send(file)
        }
        handle.set(CURLOPT_CUSTOMREQUEST, message.method)
    }

    private func configure() {
        handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
        // The request's credentials are for its own server only, so each redirect becomes a separate request.
        handle.set(CURLOPT_FOLLOWLOCATION, 0)
        // One connection per request, so that aborting one does not affect the others.
        handle.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        handle.set(CURLOPT_USERAGENT, "respool/\(respoolVersion)")
    }

    /// Whether a store refuses the request and explains it in the body. The owner handles 304 (not modified) and 416 (range not
    /// satisfiable).
    private var isRefused: Bool {
        target.isObject && hasHead && head.status >= 300 && ![304, 416].contains(head.status)
    }

    override var redirection: String? { isRedirected ? head.redirection : nil }

    override func finish(_ code: CURLcode) -> End {
        if failure == nil {
            if isRefused { return .failed(.s3(head, S3Answer(refusal), target.name)) }
            if isRedirected { return .complete }
        }
        return super.finish(code)
    }

    override func take(line: String) throws(Failure) -> Bool {
        // The trailer fields of a chunked response are ignored, but count towards the limit.
        if hasHead { head.count(line) } else if !line.isEmpty { head.append(line) }
        try checkHead()
        guard !hasHead, line.isEmpty, head.status >= 200 else { return true }
        hasHead = true
        if route.isProxied, head.status == 407 { throw .proxyRefuses(head.status) }
        isRedirected = mayBeRedirected && head.redirection != nil
        guard !isRedirected, !isRefused else { return true }
        return try deliverHead()
    }

    override func take(body bytes: UnsafeRawBufferPointer) throws(Failure) -> Bool {
        if isRedirected {
            // A short body is read to its end, so that the connection can be reused.
            redirectionBytes += bytes.count
            return redirectionBytes <= Self.maxRefusal
        }
        if isRefused {
            refusal += bytes.prefix(max(0, Self.maxRefusal - refusal.count))
            return true
        }
        return try super.take(body: bytes)
    }
}
