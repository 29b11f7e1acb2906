import CMicrohttpd
import CServerTLS
import Glibc
import Lifecycle

/// The context of libmicrohttpd's callbacks: the service, and what is under way.
final class ListenerContext: Sendable {
    let service: any HTTPService
    let watch: ConnectionWatch
    /// With which TLS is served; `nil` without TLS.
    let certificate: CertificateFiles?
    private let limits: ConnectionLimits
    private let state = Monitor(State())

    private struct State {
        var isClosing = false
        /// Requests without a complete response.
        var active = 0
        /// Requests whose connection is suspended while they are processed.
        var suspended = 0
        var bodyBytes = 0
        var streams: [ObjectIdentifier: (stream: HTTPStream, address: ClientAddress)] = [:]
    }

    init(
        _ service: any HTTPService, _ watch: ConnectionWatch, _ limits: ConnectionLimits,
        _ certificate: CertificateFiles?
    ) {
        self.service = service
        self.watch = watch
        self.limits = limits
        self.certificate = certificate
    }

    static func borrowed(_ pointer: UnsafeMutableRawPointer) -> ListenerContext {
        Unmanaged<ListenerContext>.fromOpaque(pointer).takeUnretainedValue()
    }

    func begin() { state.change(wakes: false) { $0.active += 1 } }

    func finish() { state.change { $0.active -= 1 } }

    /// Suspends a connection while the server works on its request, and stops the client's time; false if the listener is closing.
    func suspend(_ connection: OpaquePointer) -> Bool {
        state.change(wakes: false) { state in
            guard !state.isClosing else { return false }
            state.suspended += 1
            watch.pause(connection)
            MHD_suspend_connection(connection)
            return true
        }
    }

    /// Resumes a connection. Under the lock, so that the listener is not stopped in between.
    func resume(_ connection: OpaquePointer) {
        state.change { state in
            watch.resume(connection)
            MHD_resume_connection(connection)
            state.suspended -= 1
        }
    }

    /// Reserves memory for a part of a body; false if there is too much already.
    func takeBody(_ count: Int) -> Bool {
        state.change(wakes: false) { state in
            guard state.bodyBytes + count <= limits.bodyBytes else { return false }
            state.bodyBytes += count
            return true
        }
    }

    func freeBody(_ count: Int) {
        guard count > 0 else { return }
        state.change(wakes: false) { $0.bodyBytes -= count }
    }

    /// The response while too many requests are being processed.
    var overload: HTTPResponse {
        service.refusal(status: 503, "too many requests are being processed: repeat it later").with("Retry-After", "1")
    }

    /// The response if there is too much to do.
    func overload(_ message: String) -> HTTPResponse {
        service.refusal(status: 503, message).with("Retry-After", "1").with("Connection", "close")
    }

    /// Ends all streams, and waits until no connection is suspended: libmicrohttpd aborts the process otherwise.
    func close() {
        let streams = state.change { state in
            state.isClosing = true
            return state.streams.values.map(\.stream)
        }
        for stream in streams { stream.end() }
        state.wait { $0.suspended == 0 ? () : nil }
        // Clients that read get their response, and the end of their stream.
        _ = state.wait(atMost: .seconds(1)) { $0.active == 0 ? () : nil }
    }

    /// Queues the response. The corresponding C function is `MHD_queue_response`.
    func send(_ response: HTTPResponse, _ connection: OpaquePointer, isHead: Bool) -> MHD_Result {
        var response = response
        if case .stream(let stream) = response.body {
            if isHead {
                stream.closed()
                response.body = .bytes([])
            } else if !register(stream, connection) {
                stream.closed()
                response = service.refusal(status: 503, "too many streams are open: close one, or repeat it later")
                    .with("Retry-After", "5")
            }
        }
        if case .file = response.body, !isHead, !watch.beginTransfer(connection) {
            response = overload("too many files are sent at once: repeat it later")
        }
        guard let made = made(response, connection) else { return .NO }
        defer { MHD_destroy_response(made) }
        if let policy = transportPolicy(connection) {
            MHD_add_response_header(made, "Strict-Transport-Security", policy)
        }
        for header in response.allHeaders { MHD_add_response_header(made, header.name, header.value) }
        return MHD_queue_response(connection, UInt32(response.status), made)
    }

    /// With TLS and a name that can be somebody's, browsers use TLS alone for a day, on every port of that name. All servers of this
    /// machine have the name `localhost`, and browsers ignore the header with an address.
    private func transportPolicy(_ connection: OpaquePointer) -> String? {
        guard certificate != nil, let host = MHD_lookup_connection_value(connection, .HEADER_KIND, "Host") else {
            return nil
        }
        let name = String(cString: host).prefix { $0 != ":" }.lowercased()
        return name == "localhost" ? nil : "max-age=86400"
    }

    /// Sends a response while the body of the request still arrives, and ends the sending side of the connection; false if it cannot
    /// be sent. libmicrohttpd takes no response then.
    func sendEarly(_ response: HTTPResponse, _ connection: OpaquePointer) -> Bool {
        guard case .bytes(let body) = response.body else { return false }
        let reason = String(cString: MHD_get_reason_phrase_for(UInt32(response.status)))
        let headers = response.allHeaders + [("Content-Length", "\(body.count)")]
        let head = headers.reduce("HTTP/1.1 \(response.status) \(reason)\r\n") { "\($0)\($1.name): \($1.value)\r\n" }
        let bytes = Array((head + "\r\n").utf8) + body
        let socket = cmicrohttpd_socket(connection)
        if let session = cmicrohttpd_session(connection) {
            guard cservertls_send_last(session, bytes, bytes.count) else { return false }
        } else {
            let flags = CInt(MSG_NOSIGNAL | MSG_DONTWAIT)
            guard Glibc.send(socket, bytes, bytes.count, flags) == bytes.count else { return false }
        }
        return shutdown(socket, CInt(SHUT_WR)) == 0
    }

    /// Counts a stream; false if there are too many.
    private func register(_ stream: HTTPStream, _ connection: OpaquePointer) -> Bool {
        let address = ClientAddress(cmicrohttpd_client(connection))
        let isAccepted = state.change(wakes: false) { state in
            let own = state.streams.values.count { $0.address == address }
            guard !state.isClosing, state.streams.count < limits.streams, own < limits.streamsPerAddress else {
                return false
            }
            state.streams[ObjectIdentifier(stream)] = (stream, address)
            return true
        }
        guard isAccepted else { return false }
        stream.attach(connection)
        // A stream has no request timeout, and is counted apart from other connections.
        watch.remove(connection)
        return true
    }

    fileprivate func remove(_ stream: HTTPStream) {
        state.change { $0.streams[ObjectIdentifier(stream)] = nil }
        stream.closed()
    }

    private func made(_ response: HTTPResponse, _ connection: OpaquePointer) -> OpaquePointer? {
        switch response.body {
        case .bytes(let bytes):
            return bytes.withUnsafeBytes {
                MHD_create_response_from_buffer(
                    $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
            }
        case .file(let file):
            guard cmicrohttpd_transferred(cmicrohttpd_socket(connection)) < 0 else { return file.makeResponse() }
            // The kernel does not say how much of it the client has received.
            nonisolated(unsafe) let connection = connection
            return file.makeResponse { [watch] bytes in watch.count(bytes, connection) }
        case .stream(let stream):
            let box = Unmanaged.passRetained(StreamBox(stream, self))
            // Events are shorter than this, and there may be a thousand streams.
            let made = MHD_create_response_from_callback(
                .max, 1024,
                { context, _, buffer, count in
                    guard let context, let buffer else { return -1 }
                    let box = Unmanaged<StreamBox>.fromOpaque(context).takeUnretainedValue()
                    return box.stream.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
                }, box.toOpaque(),
                { context in
                    guard let context else { return }
                    let box = Unmanaged<StreamBox>.fromOpaque(context).takeRetainedValue()
                    box.context.remove(box.stream)
                })
            // The rest of a connection with a stream has no timeout, so there is no next request.
            if let made { MHD_add_response_header(made, "Connection", "close") } else { box.release() }
            return made
        }
    }
}

private final class StreamBox: Sendable {
    let stream: HTTPStream
    let context: ListenerContext

    init(_ stream: HTTPStream, _ context: ListenerContext) {
        self.stream = stream
        self.context = context
    }
}
