import CMicrohttpd
import Synchronization

/// One request and its response, from the headers until the response was sent.
final class HTTPExchange: Sendable {
    let context: ListenerContext
    private let decision: HTTPDecision
    private let reception: BodyReception?
    // The connection is used by other threads only while it is suspended, and a suspended connection is not freed.
    private let state: Mutex<State>

    private struct State: @unchecked Sendable {
        var request: HTTPRequest
        var hasBody: Bool
        /// The number of bytes that were skipped after the response was sent before the end of the body; `nil` until then.
        var skippedBytes: Int?
        var response: HTTPResponse?
        /// A stream that was not sent yet.
        var unsentStream: HTTPStream?

        /// Skips bytes of the body, and returns how many were skipped; `nil` if the body is wanted.
        mutating func skip(_ count: Int) -> Int? {
            skippedBytes? += count
            return skippedBytes
        }
    }

    /// How many bytes are read after the response was sent before the end of the body.
    private static let maxSkippedBytes = 16 << 20

    init(_ request: HTTPRequest, _ decision: HTTPDecision, _ context: ListenerContext) {
        self.context = context
        self.decision = decision
        reception = if case .receive(_, let sink) = decision { BodyReception(sink, context) } else { nil }
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
        let length = request.header("content-length").flatMap { Int64($0) }
        if case .receive(let most, _) = decision {
            if let length, length > most { return respond(tooLarge(most), connection) }
            guard context.watch.beginTransfer(connection), reception?.open(connection) == true else {
                return respond(context.overload("too many files are sent at once: repeat it later"), connection)
            }
            return .YES
        }
        guard hasBody else { return .YES }
        switch decision {
        case .answer(let response):
            // The rest of the connection cannot be told from the body.
            return respond(response.with("Connection", "close"), connection)
        case .process(let most, _):
            guard let length, length > Int64(most) else { return .YES }
            return respond(tooLarge(Int64(most)), connection)
        case .receive: return .YES
        }
    }

    /// Keeps a piece of the body, unless it is too large, or passes it on.
    func receive(_ bytes: UnsafeRawBufferPointer, _ connection: OpaquePointer) -> MHD_Result {
        if let skipped = state.withLock({ $0.skip(bytes.count) }) {
            return skipped <= Self.maxSkippedBytes ? .YES : .NO
        }
        context.watch.count(bytes.count, connection)
        if let reception {
            switch reception.append(bytes, connection) {
            case .wait: return .YES
            case .respond(let response): return refuse(response, connection)
            case .stop: return .NO
            }
        }
        guard case .process(let most, _) = decision else { return .YES }
        let refusal = state.withLock { state -> HTTPResponse? in
            if state.request.body.count + bytes.count > most { return tooLarge(Int64(most)) }
            guard context.takeBody(bytes.count) else {
                return context.overload("too many large requests at once: repeat it later")
            }
            state.request.body += bytes
            return nil
        }
        return refusal.map { refuse($0, connection) } ?? .YES
    }

    /// Sends a response before the end of the body. The client gets some time to read it: its connection would be reset if it were
    /// closed with bytes that nobody has read.
    private func refuse(_ response: HTTPResponse, _ connection: OpaquePointer) -> MHD_Result {
        guard context.sendEarly(response.with("Connection", "close"), connection) else { return .NO }
        state.withLock { $0.skippedBytes = 0 }
        return .YES
    }

    /// Called when the request is complete, and again after the connection was resumed.
    func complete(_ connection: OpaquePointer) -> MHD_Result {
        context.watch.enter(.transferring, connection)
        let (response, isAnswered) = state.withLock { ($0.response, $0.skippedBytes != nil) }
        if isAnswered { return .NO }
        if let reception {
            switch reception.proceed(connection) {
            case .wait: return .YES
            case .respond(let response): return respond(response, connection)
            case .stop: return .NO
            }
        }
        if let response { return respond(response, connection) }
        switch decision {
        case .answer(let response): return respond(response, connection)
        case .process(_, let handler): return process(connection, handler)
        case .receive: return .NO
        }
    }

    /// Called when the request is over, complete or not.
    func finish() { reception?.abort() }

    private func process(
        _ connection: OpaquePointer, _ handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) -> MHD_Result {
        context.watch.enter(.processing, connection)
        guard context.suspend(connection) else {
            return respond(
                context.service.refusal(status: 503, "the server is stopping").with("Connection", "close"), connection)
        }
        let request = state.withLock { $0.request }
        nonisolated(unsafe) let connection = connection
        Task.detached { [self] in
            let response = await handler(request)
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

    private func tooLarge(_ most: Int64) -> HTTPResponse {
        context.service.refusal(status: 413, "the body is larger than \(most) bytes: send less at once")
            .with("Connection", "close")
    }
}
