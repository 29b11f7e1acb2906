import CCurl
import Glibc
import JobSchema
import Lifecycle
import SlotIPC

/// One request to a server, whatever it speaks: the connection, its time limits, and the way of the bytes in both directions.
class RemoteRequest {
    /// What a request does with its answer; called from within libcurl, which must not be called back.
    protocol Owner: AnyObject {
        /// The head of the final answer is there; answers false when its body is not wanted.
        func received(_ head: HTTPHead, by request: RemoteRequest) throws(Failure) -> Bool
        /// Bytes at the request's position; answers false when no more are wanted.
        func received(_ bytes: UnsafeRawBufferPointer, by request: RemoteRequest) throws(Failure) -> Bool
        /// The request is over. Called outside libcurl.
        func ended(_ request: RemoteRequest, _ end: End)
    }

    enum End {
        /// The answer is complete, or no more of it was wanted; or it says only where what was asked for is.
        case complete
        /// The server's answer, or what it led to, is a failure.
        case failed(Failure)
        /// The network broke; another request may succeed.
        case broken(Failure)
    }

    final var handle: CurlHandle
    let target: RequestTarget
    /// Which bytes are asked for, if not all.
    let range: (from: Int64, to: Int64?)?
    /// Redirects that led here.
    let redirects: Int
    /// Where the next byte of the body belongs.
    var position: Int64
    /// Where the body ends, if known.
    var end: Int64?
    var hasHead = false
    private(set) var isPaused = false
    /// When the server was last heard, or asked; nothing until the connection stands.
    private(set) var lastActivity: ContinuousClock.Instant?
    /// Seconds that the server may take to answer, where that is longer than usual.
    let firstByteTimeout: Double?
    /// What is sent from a file.
    private(set) var body: FileBody?
    var head = HTTPHead()
    /// Whether it was ended because its owner wants no more.
    private(set) var isSatisfied = false
    /// Why it was ended, if it was by what its server said or by its owner.
    var failure: Failure?
    private(set) var route: Route
    /// What it is about, for a sentence.
    private let noun: String
    /// Seconds until the other side must have done what was asked of it.
    let timeout: Double
    private unowned let owner: any Owner

    init(
        _ target: RequestTarget, noun: String, range: (from: Int64, to: Int64?)? = nil, redirects: Int = 0,
        timeout: Double, firstByteTimeout: Double? = nil, policy: TransferPolicy, addresses: AddressPolicy,
        owner: any Owner
    ) throws(Failure) {
        guard let handle = CurlHandle.create() else { throw Failure(.internal, "libcurl has no memory for a request") }
        self.handle = handle
        self.target = target
        self.noun = noun
        self.range = range
        self.redirects = redirects
        self.timeout = timeout
        self.firstByteTimeout = firstByteTimeout
        position = range?.from ?? 0
        route = Route(to: target.url, policy: policy, addresses: addresses)
        self.owner = owner
        configure(policy)
        setCallbacks()
    }

    /// The status of the answer.
    var status: Int { head.status }

    /// Where the answer says that what was asked for is, as it says it.
    var redirection: String? { nil }

    /// Stops reading, or goes on; a paused request is never late.
    func pause(_ paused: Bool) {
        guard paused != isPaused else { return }
        isPaused = paused
        if lastActivity != nil { lastActivity = .now }
        curl_easy_pause(handle.pointer, paused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
    }

    /// Tells the owner that it is over.
    final func ended(_ code: CURLcode) { owner.ended(self, finish(code)) }

    /// Turns to the proxy where that is next; false if what ended was the request.
    func turnToProxy(after code: CURLcode) -> Bool {
        guard let proxy = route.nextProxy(after: code) else { return false }
        handle.set(CURLOPT_PROXY, proxy)
        handle.set(CURLOPT_NOPROXY, "")
        return true
    }

    /// What libcurl's result means.
    func finish(_ code: CURLcode) -> End {
        if let failure { return .failed(failure) }
        if isSatisfied || code == CURLE_OK && hasHead { return .complete }
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

    /// Takes in a line that the server says; answers false when no more is wanted.
    func take(line: String) throws(Failure) -> Bool {
        head.count(line)
        try checkHead()
        return true
    }

    /// Takes in the beginning of the body, before its first bytes; answers false when no more is wanted.
    func beginBody() throws(Failure) -> Bool { true }

    /// Takes in some of the body; answers false when no more is wanted.
    func take(body bytes: UnsafeRawBufferPointer) throws(Failure) -> Bool {
        isSatisfied = try !owner.received(bytes, by: self)
        return !isSatisfied
    }

    /// Shows the head to the owner; answers false when its body is not wanted.
    final func deliverHead() throws(Failure) -> Bool {
        isSatisfied = try !owner.received(head, by: self)
        return !isSatisfied
    }

    /// Fails where the server sends more lines than a head can have.
    final func checkHead() throws(Failure) {
        guard head.size <= HTTPHead.largest else { throw .endlessHeader(target.name) }
    }

    /// Sends what is in the file.
    final func send(_ file: FileBody) {
        body = file
        handle.set(CURLOPT_UPLOAD, 1)
        handle.setOffset(CURLOPT_INFILESIZE_LARGE, file.length)
        setBodyCallbacks()
    }

    private func configure(_ policy: TransferPolicy) {
        handle.set(CURLOPT_URL, target.url)
        handle.setNoProxy()
        handle.set(CURLOPT_NOSIGNAL, 1)
        // A name server that is silent must not hold up the end of a job.
        handle.set(CURLOPT_QUICK_EXIT, 1)
        handle.set(CURLOPT_TCP_KEEPALIVE, 1)
        handle.set(CURLOPT_CONNECTTIMEOUT_MS, Int(policy.connectTimeout * 1000))
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
            RemoteRequest.borrowed(opaque).takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        handle.set(CURLOPT_HEADERDATA, opaque)
        handle.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, opaque in
            RemoteRequest.borrowed(opaque).takeLine(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        handle.set(CURLOPT_PREREQDATA, opaque)
        _ = curl_swift_set_before_request(handle.pointer) { opaque, _, _, _, _ in
            RemoteRequest.borrowed(opaque).lastActivity = .now
            return CURL_PREREQFUNC_OK
        }
        handle.set(CURLOPT_OPENSOCKETDATA, opaque)
        _ = curl_swift_set_open_socket(handle.pointer) { opaque, _, address in
            RemoteRequest.borrowed(opaque).openSocket(address!)
        }
    }

    private func setBodyCallbacks() {
        let opaque = Unmanaged.passUnretained(self).toOpaque()
        handle.set(CURLOPT_READDATA, opaque)
        handle.set(CURLOPT_READFUNCTION) { bytes, size, count, opaque in
            let request = RemoteRequest.borrowed(opaque)
            request.lastActivity = .now
            let target = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
            return request.body?.read(into: target) ?? Int(CURL_READFUNC_ABORT)
        }
        handle.set(CURLOPT_SEEKDATA, opaque)
        // libcurl sends a body anew where a connection that it kept was closed meanwhile.
        _ = curl_swift_set_seek(handle.pointer) { opaque, offset, _ in
            RemoteRequest.borrowed(opaque).body?.position = Int64(offset)
            return CURL_SEEKFUNC_OK
        }
    }

    private static func borrowed(_ opaque: UnsafeMutableRawPointer?) -> RemoteRequest {
        Unmanaged<RemoteRequest>.fromOpaque(opaque!).takeUnretainedValue()
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
        do throws(Failure) { return try take(line: line) ? bytes.count : 0 } catch { return fail(error) }
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        lastActivity = .now
        // libcurl may hand over what it still held after it was told to stop.
        guard !isSatisfied, failure == nil else { return 0 }
        do throws(Failure) {
            guard try beginBody() else { return 0 }
            // A request without a connection cannot be paused yet; libcurl hands these bytes over again when it goes on.
            guard !isPaused else { return Int(CURL_WRITEFUNC_PAUSE) }
            return try take(body: bytes) ? bytes.count : 0
        } catch { return fail(error) }
    }

    /// Answers a count that libcurl takes for the end of the request.
    private func fail(_ failure: Failure) -> Int {
        self.failure = failure
        return 0
    }
}

extension RemoteRequest {
    /// A request for the bytes of the range, or for all; `condition` is the validator that the part must have, or all must not.
    static func fetching(
        _ target: RequestTarget, range: (from: Int64, to: Int64?)?, condition: String?, redirects: Int,
        policy: TransferPolicy, addresses: AddressPolicy, owner: any Owner
    ) throws(Failure) -> RemoteRequest {
        guard let scheme = FileScheme(of: target.url) else {
            return try HTTPClientRequest(
                target, range: range, condition: condition, redirects: redirects, policy: policy,
                addresses: addresses, owner: owner)
        }
        return try FileServerRequest(
            scheme, target, range: range, policy: policy, addresses: addresses, owner: owner)
    }

    /// A request that changes something, with a body or without.
    static func sending(
        _ message: StoreMessage, to target: RequestTarget, policy: TransferPolicy, addresses: AddressPolicy,
        owner: any Owner
    ) throws(Failure) -> RemoteRequest {
        guard let scheme = FileScheme(of: target.url), case .file(let file) = message.body else {
            return try HTTPClientRequest(message, to: target, policy: policy, addresses: addresses, owner: owner)
        }
        return try FileServerRequest(
            scheme, sending: file, of: message, to: target, policy: policy, addresses: addresses, owner: owner)
    }
}
