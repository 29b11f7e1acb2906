import CCurl
import Crypto
import Glibc
import JobSchema
import Lifecycle
import SlotIPC

/// One request: for a source or for a part of it, whose body goes where its owner wants it, or with a callback.
final class HTTPRequest {
    /// What a request does with its answer; called from within libcurl, which must not be called back.
    protocol Owner: AnyObject {
        /// The head of the final answer is there; answers false when its body is not wanted.
        func received(_ head: HTTPHead, by request: HTTPRequest) throws(Failure) -> Bool
        /// Bytes at the request's position; answers false when no more are wanted.
        func received(_ bytes: UnsafeRawBufferPointer, by request: HTTPRequest) throws(Failure) -> Bool
        /// The request is over. Called outside libcurl.
        func ended(_ request: HTTPRequest, _ end: End)
    }

    enum End {
        /// The answer is complete, or no more of it was wanted; or it says only where what was asked for is.
        case complete
        /// The server's answer, or what it led to, is a failure.
        case failed(Failure)
        /// The network broke; another request may succeed.
        case broken(Failure)
    }

    var handle: CurlHandle
    let target: RequestTarget
    /// Which bytes are asked for, if not all.
    let range: (from: Int64, to: Int64?)?
    /// Redirects that led here.
    let redirects: Int
    /// Where the next byte of the body belongs.
    var position: Int64
    /// Where the body ends, if known.
    var end: Int64?
    private(set) var hasHead = false
    private(set) var isPaused = false
    /// When the server was last heard, or asked; nothing until the connection stands.
    private(set) var lastActivity: ContinuousClock.Instant?
    /// Seconds that the server may take to answer, where that is longer than usual.
    private(set) var patience: Double?
    /// What is sent from a file.
    private var body: FileBody?
    private var head = HTTPHead()
    /// Whether it was ended because its owner wants no more.
    private(set) var isSatisfied = false
    private var failure: Failure?
    /// What a store says of why it refuses.
    private var refusal: [UInt8] = []
    private var route: Route
    /// What it is about, for a sentence.
    private let noun: String
    private let mayBeRedirected: Bool
    /// Where the answer says that what was asked for is, as it says it.
    private(set) var redirection: String?
    /// Bytes of the body of such an answer.
    private var redirectionBytes = 0
    /// Seconds until the other side must have done what was asked of it.
    private let timeout: Double
    private unowned let owner: any Owner

    /// A request for the bytes of the range, or for all; `condition` is the validator that the part must have, or all must not.
    convenience init(
        _ target: RequestTarget, range: (from: Int64, to: Int64?)?, condition: String?, redirects: Int,
        policy: TransferPolicy, addresses: AddressPolicy, owner: any Owner
    ) throws(Failure) {
        try self.init(
            target, noun: "the source", mayBeRedirected: !target.isObject, range: range, redirects: redirects,
            timeout: policy.connectTimeout, policy: policy, addresses: addresses, owner: owner)
        position = range?.from ?? 0
        if let scheme = fileScheme {
            handle.ask(scheme, from: range?.from, target, policy)
            return
        }
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
    convenience init(
        posting message: CallbackRequest, policy: TransferPolicy, addresses: AddressPolicy, owner: any Owner
    ) throws(Failure) {
        try self.init(
            RequestTarget(url: message.url), noun: "the callback", timeout: CallbackRequest.patience, policy: policy,
            addresses: addresses, owner: owner)
        handle.setHeader(message.headers)
        handle.set(CURLOPT_TIMEOUT_MS, Int(timeout * 1000))
        handle.post(Array(message.body))
    }

    /// A request that changes something, with a body or without.
    convenience init(
        _ call: StoreMessage, to target: RequestTarget, policy: TransferPolicy, addresses: AddressPolicy,
        owner: any Owner
    ) throws(Failure) {
        try self.init(
            target, noun: "the output", timeout: policy.connectTimeout, policy: policy,
            addresses: addresses, owner: owner)
        patience = call.patience
        if let scheme = fileScheme, case .file(let file) = call.body {
            send(file)
            try handle.deliver(scheme, target, policy)
            return
        }
        var lines = call.headers
        if target.isObject { lines.append("x-amz-content-sha256: \(try call.body.sum())") }
        handle.setHeader(lines + target.headers)
        switch call.body {
        case .none where call.method == "HEAD": handle.set(CURLOPT_NOBODY, 1)
        case .none: break
        case .bytes(let bytes): handle.post(bytes)
        case .file(let file): send(file)
        }
        handle.set(CURLOPT_CUSTOMREQUEST, call.method)
    }

    private init(
        _ target: RequestTarget, noun: String, mayBeRedirected: Bool = false,
        range: (from: Int64, to: Int64?)? = nil, redirects: Int = 0, timeout: Double, policy: TransferPolicy,
        addresses: AddressPolicy, owner: any Owner
    ) throws(Failure) {
        guard let handle = CurlHandle.create() else { throw Failure(.internal, "libcurl has no memory for a request") }
        self.handle = handle
        self.target = target
        self.noun = noun
        self.mayBeRedirected = mayBeRedirected
        self.range = range
        self.redirects = redirects
        self.timeout = timeout
        position = 0
        route = Route(to: target.url, policy: policy, addresses: addresses)
        self.owner = owner
        configure(policy)
        self.handle.authorize(target.authorization)
        setCallbacks()
    }

    /// Whether a store refuses the request, and says why in the body; a part that is not there, and a source that has not changed,
    /// are its owner's to judge.
    private var isRefused: Bool {
        target.isObject && hasHead && head.status >= 300 && ![304, 416].contains(head.status)
    }

    /// The scheme of a server that does not speak HTTP.
    private var fileScheme: FileScheme? { FileScheme(of: target.url) }

    private static let mostRefusal = 16 << 10

    /// The status of the answer.
    var status: Int { head.status }

    /// Stops reading, or goes on; a paused request is never late.
    func pause(_ paused: Bool) {
        guard paused != isPaused else { return }
        isPaused = paused
        if lastActivity != nil { lastActivity = .now }
        curl_easy_pause(handle.pointer, paused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
    }

    func ended(_ code: CURLcode) {
        // Of an empty file nothing has come.
        if code == CURLE_OK, fileScheme != nil, !hasHead { _ = takeFileHead(length: 0) }
        if let failure {
            owner.ended(self, .failed(failure))
        } else if isRefused {
            owner.ended(self, .failed(.s3(head, S3Answer(refusal), target.name)))
        } else if isSatisfied || redirection != nil || code == CURLE_OK && hasHead {
            owner.ended(self, .complete)
        } else {
            owner.ended(self, outcome(of: code))
        }
    }

    /// Turns to the proxy where that is next; false if what ended was the request.
    func turnToProxy(after code: CURLcode) -> Bool {
        guard let proxy = route.nextProxy(after: code) else { return false }
        handle.set(CURLOPT_PROXY, proxy)
        handle.set(CURLOPT_NOPROXY, "")
        return true
    }

    private func outcome(of code: CURLcode) -> End {
        // libcurl 7.88 has no memory for a line of over 100 KB.
        if code == CURLE_OUT_OF_MEMORY, lastActivity != nil, !hasHead {
            return .failed(.endlessHeader(target.name))
        }
        if route.isProxied, let failure = Failure.proxy(code, handle.connectStatus) { return .broken(failure) }
        let failure = Failure.curl(
            code, of: noun, url: target.name, route: route, words: handle.errorDescription, timeout: timeout,
            reply: handle.responseCode)
        return failure.retryable ? .broken(failure) : .failed(failure)
    }

    private func configure(_ policy: TransferPolicy) {
        handle.set(CURLOPT_URL, target.url)
        handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
        // What a request says of who asks is for its own server: a redirect is another request.
        handle.set(CURLOPT_FOLLOWLOCATION, 0)
        // One connection a request, so that one cut short takes no other with it.
        handle.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        handle.setNoProxy()
        handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        handle.set(CURLOPT_NOSIGNAL, 1)
        // A name server that is silent must not hold up the end of a job.
        handle.set(CURLOPT_QUICK_EXIT, 1)
        handle.set(CURLOPT_TCP_KEEPALIVE, 1)
        handle.set(CURLOPT_CONNECTTIMEOUT_MS, Int(policy.connectTimeout * 1000))
        handle.set(CURLOPT_USERAGENT, "respool/\(respoolVersion)")
        if let certificates = policy.certificateFile {
            handle.set(CURLOPT_CAINFO, certificates)
            handle.set(CURLOPT_PROXY_CAINFO, certificates)
        }
    }

    private func setCallbacks() {
        // Unretained: the client and the owner keep the request until it is removed from libcurl.
        let opaque = Unmanaged.passUnretained(self).toOpaque()
        handle.set(CURLOPT_WRITEDATA, opaque)
        handle.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, opaque in
            HTTPRequest.borrowed(opaque).takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        handle.set(CURLOPT_HEADERDATA, opaque)
        handle.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, opaque in
            HTTPRequest.borrowed(opaque).takeLine(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        handle.set(CURLOPT_PREREQDATA, opaque)
        _ = curl_swift_set_before_request(handle.pointer) { opaque, _, _, _, _ in
            HTTPRequest.borrowed(opaque).lastActivity = .now
            return CURL_PREREQFUNC_OK
        }
        handle.set(CURLOPT_OPENSOCKETDATA, opaque)
        _ = curl_swift_set_open_socket(handle.pointer) { opaque, _, address in
            HTTPRequest.borrowed(opaque).openSocket(address!)
        }
    }

    private func send(_ file: FileBody) {
        body = file
        handle.set(CURLOPT_UPLOAD, 1)
        handle.setOffset(CURLOPT_INFILESIZE_LARGE, file.length)
        setBodyCallbacks()
    }

    private func setBodyCallbacks() {
        let opaque = Unmanaged.passUnretained(self).toOpaque()
        handle.set(CURLOPT_READDATA, opaque)
        handle.set(CURLOPT_READFUNCTION) { bytes, size, count, opaque in
            let request = HTTPRequest.borrowed(opaque)
            request.lastActivity = .now
            let target = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
            return request.body?.read(into: target) ?? Int(CURL_READFUNC_ABORT)
        }
        handle.set(CURLOPT_SEEKDATA, opaque)
        // libcurl sends a body anew where a connection that it kept was closed meanwhile.
        _ = curl_swift_set_seek(handle.pointer) { opaque, offset, _ in
            HTTPRequest.borrowed(opaque).body?.position = Int64(offset)
            return CURL_SEEKFUNC_OK
        }
    }

    private static func borrowed(_ opaque: UnsafeMutableRawPointer?) -> HTTPRequest {
        Unmanaged<HTTPRequest>.fromOpaque(opaque!).takeUnretainedValue()
    }

    /// Opens a socket to exactly the address that was checked, whatever the name resolves to a moment later.
    private func openSocket(_ target: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        guard let address = IPAddress(curl_swift_address(target)), route.opens(address) else {
            return curl_swift_bad_socket
        }
        let kind = target.pointee.socktype | CInt(SOCK_CLOEXEC.rawValue)
        return socket(target.pointee.family, kind, target.pointee.protocol)
    }

    private func takeLine(_ bytes: UnsafeRawBufferPointer) -> Int {
        lastActivity = .now
        let line =
            String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        guard fileScheme == nil else {
            head.count(line)
            guard head.size <= HTTPHead.largest else { return fail(.endlessHeader(target.name)) }
            return body?.isCut(by: line) == true ? fail(.cutOnItsWay(target.name)) : bytes.count
        }
        // What follows the body of a chunked answer is not read, but counts.
        if hasHead { head.count(line) } else if !line.isEmpty { head.append(line) }
        guard head.size <= HTTPHead.largest else { return fail(.endlessHeader(target.name)) }
        guard !hasHead, line.isEmpty, head.status >= 200 else { return bytes.count }
        hasHead = true
        if route.isProxied, head.status == 407 { return fail(.proxyRefuses(head.status)) }
        if mayBeRedirected, let location = head.redirection {
            redirection = location
            return bytes.count
        }
        if isRefused { return bytes.count }
        do { isSatisfied = try !owner.received(head, by: self) } catch { return fail(error) }
        return isSatisfied ? 0 : bytes.count
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        lastActivity = .now
        // libcurl may hand over what it still held after it was told to stop.
        guard !isSatisfied, failure == nil else { return 0 }
        if fileScheme != nil, !hasHead, !takeFileHead(length: handle.contentLength) { return 0 }
        // A request without a connection cannot be paused yet; libcurl hands these bytes over again when it goes on.
        guard !isPaused else { return Int(CURL_WRITEFUNC_PAUSE) }
        if redirection != nil {
            // A short body is read, so that the connection may serve again.
            redirectionBytes += bytes.count
            return redirectionBytes <= Self.mostRefusal ? bytes.count : 0
        }
        if isRefused {
            refusal += bytes.prefix(max(0, Self.mostRefusal - refusal.count))
            return bytes.count
        }
        do {
            guard try owner.received(bytes, by: self) else {
                isSatisfied = true
                return 0
            }
        } catch { return fail(error) }
        return bytes.count
    }

    /// Takes what a server of files has said of the file before its first byte for the head of an answer.
    private func takeFileHead(length: Int64?) -> Bool {
        head = HTTPHead(fileOf: length, changed: handle.fileTime, from: range?.from, after: head)
        hasHead = true
        do { isSatisfied = try !owner.received(head, by: self) } catch { _ = fail(error) }
        return !isSatisfied && failure == nil
    }

    /// Answers a count that libcurl takes for the end of the request.
    private func fail(_ failure: Failure) -> Int {
        self.failure = failure
        return 0
    }
}
