import CMicrohttpd
import Glibc
package import Lifecycle

/// A small HTTP server with one separate thread. It replies from a table of routes until it is released.
package final class HTTPListener: Sendable {
    /// The requested port, or the one that the system chose.
    package let port: UInt16

    // libmicrohttpd's functions are thread-safe. The pointer is used again only by `deinit`.
    private nonisolated(unsafe) let daemon: OpaquePointer
    private let context: Unmanaged<ListenerContext>

    /// Maximum number of connections, including those being closed. Further ones wait in the kernel's listen queue.
    private static let maxConnections = UInt32(2 * (ConnectionWatch.maxRemote + ConnectionWatch.maxLocal))
    /// Seconds without a byte after which a connection is closed.
    private static let idleSeconds: UInt32 = 15
    /// Buffer size in bytes for the request line and the header fields.
    private static let connectionBytes = 32 << 10

    /// Listens and starts to serve requests. The corresponding C function is `MHD_start_daemon`.
    ///
    /// `requestTimeout` limits the time that a client takes for each request.
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
        // From here on, the daemon closes the socket.
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
            // The port has the same offset in IPv4 and IPv6 socket addresses.
            return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt16(bigEndian: $0.pointee.sin_port)
            }
        }
    }
}

/// The context of libmicrohttpd's callbacks.
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

/// Replies to one request. libmicrohttpd first calls it with the header fields only.
private let answer: MHD_AccessHandlerCallback = { context, connection, url, verb, _, _, uploaded, state in
    guard let context, let connection, let url, let verb, let uploaded, let state else { return .NO }
    let method = String(cString: verb)
    // A request with another method may have a body. It is refused immediately, which closes the connection before the body is
    // read.
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
