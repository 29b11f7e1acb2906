import CMicrohttpd
import Synchronization

/// One request and its response, from the headers until the response was sent.
final class HTTPExchange: Sendable {
    let context: ListenerContext
    private let decision: HTTPDecision
    // The connection is used by other threads only while it is suspended, and a suspended connection is not freed.
    private let state: Mutex<State>

    private struct State: @unchecked Sendable {
        var request: HTTPRequest
        var hasBody: Bool
        /// Set when the body is too large, and no more of it is kept.
        var refusal: HTTPResponse?
        var response: HTTPResponse?
        /// A stream that was not sent yet.
        var unsentStream: HTTPStream?
    }

    init(_ request: HTTPRequest, _ decision: HTTPDecision, _ context: ListenerContext) {
        self.context = context
        self.decision = decision
        let length = request.header("content-length")
        let hasBody = request.header("transfer-encoding") != nil || length.map { $0 != "0" } ?? false
        state = Mutex(State(request: request, hasBody: hasBody))
    }

    deinit {
        let (count, stream) = state.withLock { ($0.request.body.count, $0.unsentStream) }
        context.freeBody(count)
        // The client left meanwhile: libmicrohttpd closes a resumed connection without asking for the response.
        stream?.closed()
    }

    /// Called after the headers: refuses a body that is not wanted before it is read.
    func begin(_ connection: OpaquePointer) -> MHD_Result {
        let (request, hasBody) = state.withLock { ($0.request, $0.hasBody) }
        guard hasBody else { return .YES }
        switch decision {
        case .answer(let response):
            // The rest of the connection cannot be told from the body.
            let last = response.with("Connection", "close")
            return last.delay > .zero ? process(connection) { _ in last } : respond(last, connection)
        case .process(let most, _):
            guard let length = request.header("content-length").flatMap({ Int($0) }), length > most else { return .YES }
            return respond(tooLarge(most), connection)
        }
    }

    /// Keeps a piece of the body, unless it is too large.
    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard case .process(let most, _) = decision else { return }
        state.withLock { state in
            guard state.refusal == nil else { return }
            if state.request.body.count + bytes.count > most {
                state.refusal = tooLarge(most)
            } else if !context.takeBody(bytes.count) {
                state.refusal = context.service.refusal(status: 503, "too many large requests at once: repeat it later")
                    .with("Retry-After", "1").with("Connection", "close")
            } else {
                state.request.body += bytes
            }
        }
    }

    /// Called when the request is complete, and again after the connection was resumed.
    func complete(_ connection: OpaquePointer) -> MHD_Result {
        context.watch.enter(.transferring, connection)
        if let response = state.withLock({ $0.response ?? $0.refusal }) { return respond(response, connection) }
        switch decision {
        case .answer(let response):
            guard response.delay > .zero else { return respond(response, connection) }
            return process(connection) { _ in response }
        case .process(_, let handler): return process(connection, handler)
        }
    }

    private func process(
        _ connection: OpaquePointer, _ handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) -> MHD_Result {
        guard context.suspend() else {
            return respond(
                context.service.refusal(status: 503, "the server is stopping").with("Connection", "close"), connection)
        }
        context.watch.enter(.processing, connection)
        MHD_suspend_connection(connection)
        let request = state.withLock { $0.request }
        nonisolated(unsafe) let connection = connection
        Task.detached { [self] in
            let response = await handler(request)
            if response.delay > .zero { try? await Task.sleep(for: response.delay) }
            state.withLock { state in
                state.response = response
                if case .stream(let stream) = response.body { state.unsentStream = stream }
            }
            context.resume(connection)
        }
        return .YES
    }

    private func respond(_ response: HTTPResponse, _ connection: OpaquePointer) -> MHD_Result {
        let isHead = state.withLock { state in
            // From here on, the context closes the stream.
            state.unsentStream = nil
            return state.request.method == "HEAD"
        }
        return context.send(response, connection, isHead: isHead)
    }

    private func tooLarge(_ most: Int) -> HTTPResponse {
        context.service.refusal(status: 413, "the body is larger than \(most) bytes: send less at once")
            .with("Connection", "close")
    }
}
