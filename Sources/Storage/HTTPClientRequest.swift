import CCurl
import Crypto
import JobSchema
import Lifecycle
import SlotIPC

/// One request over HTTP: for a source or for a part of it, for an output, or with a callback.
final class HTTPClientRequest: RemoteRequest {
    private let mayBeRedirected: Bool
    private var isRedirected = false
    /// Bytes of the body of an answer that redirects.
    private var redirectionBytes = 0
    /// What a store says of why it refuses.
    private var refusal: [UInt8] = []

    private static let maxRefusal = 16 << 10

    /// A request for the bytes of the range, or for all; `condition` is the validator that the part must have, or all must not.
    init(
        _ target: RequestTarget, range: (from: Int64, to: Int64?)?, condition: String?, redirects: Int,
        policy: TransferPolicy, addresses: AddressPolicy, owner: any Owner
    ) throws(Failure) {
        mayBeRedirected = !target.isObject
        try super.init(
            target, noun: "the source", range: range, redirects: redirects, timeout: policy.connectTimeout,
            policy: policy, addresses: addresses, owner: owner)
        configure()
        // One connection for all requests, once a server is known to be able to. None waits for that (CURLOPT_PIPEWAIT): the one
        // that would tell may be paused.
        if route.isSecure { handle.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS) }
        // A proxy before a store may change what it accepts, which the signature would cover.
        var lines = target.isObject ? ["x-amz-content-sha256: \(Digest.of([]))"] : ["Accept-Encoding: identity"]
        if range == nil, !target.isObject { lines.append("Icy-MetaData: 1") }
        handle.acceptStatusLine("ICY 200 OK")
        if let range {
            handle.set(CURLOPT_RANGE, "\(range.from)-\(range.to.map { String($0 - 1) } ?? "")")
            if let condition { lines.append("If-Range: \(condition)") }
        } else if let condition {
            lines.append("If-None-Match: \(condition)")
        }
        handle.setHeader(lines + target.headers)
    }

    /// A request that posts a message.
    init(
        posting message: CallbackRequest, policy: TransferPolicy, addresses: AddressPolicy, owner: any Owner
    ) throws(Failure) {
        mayBeRedirected = false
        try super.init(
            RequestTarget(url: message.url), noun: "the callback", timeout: CallbackRequest.timeout, policy: policy,
            addresses: addresses, owner: owner)
        configure()
        handle.setHeader(message.headers)
        handle.set(CURLOPT_TIMEOUT_MS, Int(timeout * 1000))
        handle.post(Array(message.body))
    }

    /// A request that changes something, with a body or without.
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
        var lines = message.headers
        if target.isObject { lines.append("x-amz-content-sha256: \(try message.body.sum())") }
        handle.setHeader(lines + target.headers)
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
        // What a request says of who asks is for its own server: a redirect is another request.
        handle.set(CURLOPT_FOLLOWLOCATION, 0)
        // One connection a request, so that one cut short takes no other with it.
        handle.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        handle.set(CURLOPT_USERAGENT, "respool/\(respoolVersion)")
        handle.authorize(target.authorization)
    }

    /// Whether a store refuses the request, and says why in the body; a part that is not there, and a source that has not changed,
    /// are its owner's to judge.
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
        // What follows the body of a chunked answer is not read, but counts.
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
            // A short body is read, so that the connection may serve again.
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
