import CMicrohttpd
import Glibc
package import Lifecycle

/// A small HTTP server with one thread of its own, which answers from a table until it is released.
package final class HTTPListener: Sendable {
    /// The port that was asked for, or the one that the system chose.
    package let port: UInt16

    // libmicrohttpd's calls are safe from any thread; the pointer is used once more, by `deinit`.
    private nonisolated(unsafe) let daemon: OpaquePointer
    private let context: Unmanaged<ListenerContext>

    /// Connections in all, with those that are just being ended; more wait in the system's queue.
    private static let maxConnections = UInt32(2 * (ConnectionWatch.maxRemote + ConnectionWatch.maxLocal))
    /// Seconds without a byte before a connection is closed.
    private static let idleSeconds: UInt32 = 15
    /// Bytes for one request's line and header fields.
    private static let connectionBytes = 32 << 10

    /// Listens and starts to answer. The corresponding C function is `MHD_start_daemon`.
    ///
    /// A client may take `requestTimeout` for each request.
    package init(
        on address: ListenAddress, routes: HTTPRoutes, requestTimeout: Duration = .seconds(20)
    ) throws(Errno) {
        let socket = try address.listen()
        port = Self.boundPort(socket.number)
        let box = Unmanaged.passRetained(ListenerContext(routes, ConnectionWatch(requestTimeout: requestTimeout)))
        let started = withSignalsBlocked {
            cmicrohttpd_start(
                socket.number, answer, box.toOpaque(), Self.maxConnections, Self.idleSeconds, Self.connectionBytes,
                connectionChanged, requestOver)
        }
        guard let started else {
            box.release()
            throw .last
        }
        // The daemon closes the socket from here on.
        _ = socket.release()
        daemon = started
        context = box
    }

    deinit {
        MHD_stop_daemon(daemon)
        context.release()
    }

    private static func boundPort(_ socket: CInt) -> UInt16 {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(socket, $0, &length) }
            // The port is at the same place in the addresses of both families.
            return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt16(bigEndian: $0.pointee.sin_port)
            }
        }
    }
}

/// What libmicrohttpd's calls are about.
private final class ListenerContext: Sendable {
    let routes: HTTPRoutes
    let watch: ConnectionWatch

    init(_ routes: HTTPRoutes, _ watch: ConnectionWatch) {
        self.routes = routes
        self.watch = watch
    }

    static func borrowed(_ pointer: UnsafeMutableRawPointer) -> ListenerContext {
        Unmanaged<ListenerContext>.fromOpaque(pointer).takeUnretainedValue()
    }
}

private let connectionChanged: MHD_NotifyConnectionCallback = { context, connection, _, change in
    guard let context else { return }
    let watch = ListenerContext.borrowed(context).watch
    if change == .CONNECTION_NOTIFY_STARTED { watch.begin(connection) } else { watch.remove(connection) }
}

private let requestOver: MHD_RequestCompletedCallback = { context, connection, _, _ in
    guard let context else { return }
    ListenerContext.borrowed(context).watch.renew(connection)
}

/// Answers one request; libmicrohttpd calls it first with the header fields alone.
private let answer: MHD_AccessHandlerCallback = { context, connection, url, verb, _, _, uploaded, state in
    guard let context, let connection, let url, let verb, let uploaded, let state else { return .NO }
    let method = String(cString: verb)
    // A request that may bring a body is refused at once, which closes the connection before the body is read.
    if method == "GET" || method == "HEAD" {
        if state.pointee == nil {
            state.pointee = context
            return .YES
        }
        if uploaded.pointee > 0 {
            uploaded.pointee = 0
            return .YES
        }
    }
    let routes = ListenerContext.borrowed(context).routes
    return send(routes.respond(method: method, path: String(cString: url)), connection)
}

private func send(_ response: HTTPResponse, _ connection: OpaquePointer) -> MHD_Result {
    var body = response.body
    let made = body.withUTF8 { bytes in
        MHD_create_response_from_buffer(
            bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
    }
    guard let made else { return .NO }
    defer { MHD_destroy_response(made) }
    MHD_add_response_header(made, "Content-Type", response.contentType)
    MHD_add_response_header(made, "Cache-Control", "no-store")
    MHD_add_response_header(made, "X-Content-Type-Options", "nosniff")
    if response.status == 405 { MHD_add_response_header(made, "Allow", "GET, HEAD") }
    return MHD_queue_response(connection, UInt32(response.status), made)
}
