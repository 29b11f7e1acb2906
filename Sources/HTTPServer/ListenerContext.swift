import CMicrohttpd
import Lifecycle

/// The context of libmicrohttpd's callbacks: the service, and what is under way.
final class ListenerContext: Sendable {
    let service: any HTTPService
    let watch: ConnectionWatch
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

    init(_ service: any HTTPService, _ watch: ConnectionWatch, _ limits: ConnectionLimits) {
        self.service = service
        self.watch = watch
        self.limits = limits
    }

    static func borrowed(_ pointer: UnsafeMutableRawPointer) -> ListenerContext {
        Unmanaged<ListenerContext>.fromOpaque(pointer).takeUnretainedValue()
    }

    func begin() { state.change(wakes: false) { $0.active += 1 } }

    func finish() { state.change { $0.active -= 1 } }

    /// Counts a connection that is about to be suspended; false if the listener is closing.
    func suspend() -> Bool {
        state.change(wakes: false) { state in
            guard !state.isClosing else { return false }
            state.suspended += 1
            return true
        }
    }

    /// Resumes a connection. Under the lock, so that the listener is not stopped in between.
    func resume(_ connection: OpaquePointer) {
        state.change { state in
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
        guard let made = made(response) else { return .NO }
        defer { MHD_destroy_response(made) }
        if !response.contentType.isEmpty { MHD_add_response_header(made, "Content-Type", response.contentType) }
        MHD_add_response_header(made, "X-Content-Type-Options", "nosniff")
        for header in response.headers { MHD_add_response_header(made, header.name, header.value) }
        if !response.headers.contains(where: { $0.name == "Cache-Control" }) {
            MHD_add_response_header(made, "Cache-Control", "no-store")
        }
        return MHD_queue_response(connection, UInt32(response.status), made)
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

    private func made(_ response: HTTPResponse) -> OpaquePointer? {
        switch response.body {
        case .bytes(let bytes):
            return bytes.withUnsafeBytes {
                MHD_create_response_from_buffer(
                    $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
            }
        case .file(let file): return file.makeResponse()
        case .stream(let stream):
            let box = Unmanaged.passRetained(StreamBox(stream, self))
            let made = MHD_create_response_from_callback(
                .max, 4096,
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
