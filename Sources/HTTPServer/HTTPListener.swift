import CMicrohttpd
import CServerTLS
import Glibc
package import Lifecycle

/// A small HTTP server with threads of its own. It replies until it is released; what is under way then is still answered.
package final class HTTPListener: Sendable {
    /// The requested port, or the one that the system chose.
    package let port: UInt16

    // libmicrohttpd's functions are thread-safe. The pointer is used again only by `deinit`.
    private nonisolated(unsafe) let daemon: OpaquePointer
    private let context: Unmanaged<ListenerContext>
    private let socketFile: SocketFile?

    /// Seconds without a byte after which a connection is closed.
    private static let idleSeconds: UInt32 = 15
    /// Buffer size in bytes for the request line and the header fields. libmicrohttpd writes to half of it for each connection.
    private static let connectionBytes = 24 << 10

    /// Listens and starts to serve requests. The corresponding C function is `MHD_start_daemon`.
    ///
    /// `requestTimeout` limits the time that a client takes for each request. With a certificate, it serves TLS alone. Each response
    /// looks at all connections that wait in its thread: with a thousand streams in one thread, that took a fifth of the time.
    package init(
        on address: ListenAddress, service: some HTTPService, limits: ConnectionLimits = ConnectionLimits(),
        requestTimeout: Duration = .seconds(20), threads: UInt32 = 1, certificate: CertificateFiles? = nil
    ) throws(Errno) {
        let socket = try address.listen()
        port = address.path == nil ? ListenAddress.boundPort(socket.number) : 0
        socketFile = address.path.flatMap(SocketFile.init)
        let watch = ConnectionWatch(requestTimeout: requestTimeout, limits: limits)
        let box = Unmanaged.passRetained(ListenerContext(service, watch, limits, certificate))
        let started = withSignalsBlocked {
            cmicrohttpd_start(
                socket.number, answer, box.toOpaque(), threads, limits.total, Self.idleSeconds,
                Self.connectionBytes,
                connectionChanged, requestOver, certificate == nil ? nil : cservertls_callback(),
                cservertls_priorities)
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
        socketFile?.remove()
        nonisolated(unsafe) let daemon = daemon
        let context = context
        // Requests may take any time, and the thread that releases the listener must not wait for them.
        startThread {
            context.takeUnretainedValue().close()
            MHD_stop_daemon(daemon)
            context.release()
        }
    }

    /// Ends streams, and waits for the requests that are being processed; later requests get status 503.
    package func close() async {
        let context = context.takeUnretainedValue()
        await withCheckedContinuation { closed in
            startThread {
                context.close()
                closed.resume()
            }
        }
    }
}

private let connectionChanged: MHD_NotifyConnectionCallback = { context, connection, own, change in
    guard let context, let own else { return }
    let listener = ListenerContext.borrowed(context)
    if change == .CONNECTION_NOTIFY_STARTED {
        listener.watch.begin(connection)
        // The connection keeps its certificate while others get a renewed one.
        own.pointee = listener.certificate?.current.retained()
    } else {
        listener.watch.remove(connection)
        own.pointee.map(ServerCertificate.release)
        own.pointee = nil
    }
}

private let requestOver: MHD_RequestCompletedCallback = { context, connection, state, _ in
    guard let context else { return }
    if let exchange = state?.pointee {
        let exchange = Unmanaged<HTTPExchange>.fromOpaque(exchange).takeRetainedValue()
        exchange.finish()
        ListenerContext.borrowed(context).finish()
    }
    state?.pointee = nil
    ListenerContext.borrowed(context).watch.renew(connection)
}

extension HTTPDecision {
    /// Answers at once, and closes the connection.
    fileprivate static func last(_ response: HTTPResponse) -> HTTPDecision {
        .answer(response.with("Connection", "close"))
    }
}

/// Replies to one request. libmicrohttpd first calls it with the header fields only, then with parts of the body, and then
/// without any.
private let answer: MHD_AccessHandlerCallback = { context, connection, url, verb, version, bytes, count, state in
    guard let context, let connection, let url, let verb, let version, let count, let state else { return .NO }
    guard let started = state.pointee else {
        let context = ListenerContext.borrowed(context)
        let (request, problem) = RequestReader.read(
            connection, method: String(cString: verb), path: String(cString: url), version: version)
        let isServed = context.watch.enter(.transferring, connection)
        let decision =
            problem.map { .last(context.service.refusal(status: 400, $0)) }
            ?? context.service.probe(request).map { isServed ? .answer($0) : .last($0) }
            ?? (isServed ? context.service.decide(request) : .last(context.overload))
        let exchange = HTTPExchange(request, decision, context)
        state.pointee = Unmanaged.passRetained(exchange).toOpaque()
        context.begin()
        return exchange.begin(connection)
    }
    let exchange = Unmanaged<HTTPExchange>.fromOpaque(started).takeUnretainedValue()
    guard count.pointee > 0 else { return exchange.complete(connection) }
    let received = exchange.receive(UnsafeRawBufferPointer(start: bytes, count: count.pointee), connection)
    count.pointee = 0
    return received
}
