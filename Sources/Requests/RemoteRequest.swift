import CCurl
import Glibc
package import JobSchema
import Lifecycle
package import SlotIPC

/// One request to a server, for any protocol: its connection, its timeouts, and the transfer of bytes in both directions.
package class RemoteRequest {
    /// Receives the response of a request. The `received` methods are called from within libcurl, which must not be called
    /// back.
    package protocol Owner: AnyObject {
        /// The head of the final response has arrived. Returns false if its body is not wanted.
        func received(_ head: HTTPHead, by request: RemoteRequest) throws(Failure) -> Bool
        /// Bytes at the request's position have arrived. Returns false if no more are wanted.
        func received(_ bytes: UnsafeRawBufferPointer, by request: RemoteRequest) throws(Failure) -> Bool
        /// The request has ended. Called outside libcurl.
        func ended(_ request: RemoteRequest, _ end: End)
    }

    /// How a request ended.
    package enum End {
        /// The response is complete or a redirect, or its owner wanted no more of it.
        case complete
        /// The response, or its processing, failed.
        case failed(Failure)
        /// The connection broke. Another request may succeed.
        case broken(Failure)
    }

    final var handle: CurlHandle
    /// The URL of the response, after redirects that libcurl followed.
    package final var effectiveURL: String { handle.effectiveURL }
    /// The URL, headers and credentials.
    package let target: RequestTarget
    /// The requested bytes; `nil` for all.
    package let range: (from: Int64, to: Int64?)?
    /// The number of redirects followed so far.
    package let redirects: Int
    /// The offset of the next byte of the body.
    package var position: Int64
    /// The offset at which the body ends, if known.
    package var end: Int64?
    var hasHead = false
    /// Whether it is for a source.
    private(set) var isFetch = false
    /// Bytes of the body so far.
    private(set) var receivedBytes: Int64 = 0
    private(set) var isPaused = false
    /// When the server last sent or requested something; `nil` before the request is sent.
    private(set) var lastActivity: ContinuousClock.Instant?
    /// Whether it was given to a server that is connected. A file server has made the file before it takes a byte.
    package private(set) var hasBegun = false
    /// Seconds until the first byte, if this differs from the policy's timeout.
    let firstByteTimeout: Double?
    /// The file to send.
    private(set) var body: FileBody?
    var head = HTTPHead()
    /// Whether the request was ended because its owner wants no more of the response.
    package private(set) var isSatisfied = false
    /// The failure for which the response or the owner ended the request.
    var failure: Failure?
    private(set) var route: ConnectionRoute
    /// What is transferred, as a noun phrase for messages.
    private let noun: String
    /// The connection timeout in seconds; for a callback or traces, the timeout of the whole request.
    let timeout: Double
    private unowned let owner: any Owner

    init(
        _ target: RequestTarget, noun: String, range: (from: Int64, to: Int64?)? = nil, redirects: Int = 0,
        timeout: Double, firstByteTimeout: Double? = nil, policy: TransferPolicy, addresses: AddressPolicy,
        owner: any Owner
    ) throws(Failure) {
        guard let handle = CurlHandle.create() else { throw Failure(.internal, "libcurl: out of memory for a request") }
        self.handle = handle
        self.target = target
        self.noun = noun
        self.range = range
        self.redirects = redirects
        self.timeout = timeout
        self.firstByteTimeout = firstByteTimeout
        position = range?.from ?? 0
        route = ConnectionRoute(to: target.url, policy: policy, addresses: addresses)
        self.owner = owner
        configure(policy)
        setCallbacks()
    }

    /// The status of the response.
    package var status: Int { head.status }

    /// The unresolved target of a redirect.
    package var redirection: String? { nil }

    /// Pauses or resumes reading. A paused request never times out.
    package func pause(_ paused: Bool) {
        guard paused != isPaused else { return }
        isPaused = paused
        if lastActivity != nil { lastActivity = .now }
        curl_easy_pause(handle.pointer, paused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
    }

    /// Notifies the owner that the request has ended.
    final func ended(_ code: CURLcode) { owner.ended(self, finish(code)) }

    /// Continues through the proxy if that is the next stage; returns false if the request itself has ended.
    func turnToProxy(after code: CURLcode) -> Bool {
        guard let proxy = route.nextProxy(after: code) else { return false }
        handle.set(CURLOPT_PROXY, proxy)
        handle.set(CURLOPT_NOPROXY, "")
        return true
    }

    /// Converts libcurl's result code to the end of the request.
    func finish(_ code: CURLcode) -> End {
        if let failure { return .failed(failure) }
        if isSatisfied || code == CURLE_OK && hasHead { return .complete }
        // libcurl reports this for a header line of over 100 KB.
        if code == curl_swift_too_large || code == CURLE_OUT_OF_MEMORY, lastActivity != nil, !hasHead {
            return .failed(.endlessHeader(target.name))
        }
        if route.isProxied, let failure = Failure.proxy(code, handle.connectStatus) { return .broken(failure) }
        let failure = Failure.curl(
            code, of: noun, url: target.name, route: route, words: handle.errorDescription, timeout: timeout,
            reply: handle.responseCode)
        return failure.retryable ? .broken(failure) : .failed(failure)
    }

    /// Takes in a line from the server; returns false if no more is wanted.
    func take(line: String) throws(Failure) -> Bool {
        head.count(line)
        try checkHead()
        return true
    }

    /// Takes in the start of the body, before its first bytes; returns false if no more is wanted.
    func beginBody() throws(Failure) -> Bool { true }

    /// Takes in bytes of the body; returns false if no more is wanted.
    func take(body bytes: UnsafeRawBufferPointer) throws(Failure) -> Bool {
        isSatisfied = try !owner.received(bytes, by: self)
        return !isSatisfied
    }

    /// Passes the head to the owner; returns false if the body is not wanted.
    final func deliverHead() throws(Failure) -> Bool {
        isSatisfied = try !owner.received(head, by: self)
        return !isSatisfied
    }

    /// Fails if the head exceeds its size limit.
    final func checkHead() throws(Failure) {
        guard head.size <= HTTPHead.largest else { throw .endlessHeader(target.name) }
    }

    /// Sends the contents of the file.
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
        // A name server that does not reply must not delay the end of a job.
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
            let request = RemoteRequest.borrowed(opaque)
            (request.lastActivity, request.hasBegun) = (.now, true)
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
        // libcurl sends the body again if a reused connection turns out to be closed.
        _ = curl_swift_set_seek(handle.pointer) { opaque, offset, _ in
            RemoteRequest.borrowed(opaque).body?.position = Int64(offset)
            return CURL_SEEKFUNC_OK
        }
    }

    private static func borrowed(_ opaque: UnsafeMutableRawPointer?) -> RemoteRequest {
        Unmanaged<RemoteRequest>.fromOpaque(opaque!).takeUnretainedValue()
    }

    /// Opens a socket to exactly the address that was checked, even if the name resolves to another one later.
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
        // libcurl may still deliver buffered bytes after it was asked to stop.
        guard !isSatisfied, failure == nil else { return 0 }
        do throws(Failure) {
            guard try beginBody() else { return 0 }
            // A request that is not connected yet cannot be paused. libcurl delivers these bytes again after the pause.
            guard !isPaused else { return Int(CURL_WRITEFUNC_PAUSE) }
            receivedBytes += Int64(bytes.count)
            return try take(body: bytes) ? bytes.count : 0
        } catch { return fail(error) }
    }

    /// Returns a count that makes libcurl end the request.
    private func fail(_ failure: Failure) -> Int {
        self.failure = failure
        return 0
    }
}

extension RemoteRequest {
    /// A request for the range, or for the whole source. `condition` is the validator that a part must match, or that the whole
    /// source must not match.
    package static func fetching(
        _ target: RequestTarget, range: (from: Int64, to: Int64?)?, condition: String?, redirects: Int,
        policy: TransferPolicy, addresses: AddressPolicy, owner: any Owner
    ) throws(Failure) -> RemoteRequest {
        let request: RemoteRequest =
            if let scheme = FileScheme(of: target.url) {
                try FileServerRequest(
                    scheme, target, range: range, policy: policy, addresses: addresses, owner: owner)
            } else {
                try HTTPClientRequest(
                    target, range: range, condition: condition, redirects: redirects, policy: policy,
                    addresses: addresses, owner: owner)
            }
        request.isFetch = true
        return request
    }

    /// A request that uploads or modifies something, with or without a body.
    package static func sending(
        _ message: StoreMessage, to target: RequestTarget, policy: TransferPolicy, addresses: AddressPolicy,
        owner: any Owner
    ) throws(Failure) -> RemoteRequest {
        guard let scheme = FileScheme(of: target.url), let work = message.work else {
            return try HTTPClientRequest(message, to: target, policy: policy, addresses: addresses, owner: owner)
        }
        return try FileServerRequest(
            scheme, work, of: message, to: target, policy: policy, addresses: addresses, owner: owner)
    }
}
