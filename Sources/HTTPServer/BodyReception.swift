import CMicrohttpd
import Lifecycle

/// Passes the body of one request from the listener's thread to its sink, with a bounded number of bytes in between. While the
/// sink is busy, the connection is suspended, so that the client waits.
final class BodyReception: Sendable {
    private let sink: any HTTPBodySink
    private let context: ListenerContext
    private let state = Monitor(State())

    // The connection is used by the sink's thread only while it is suspended, and a suspended connection is not freed.
    private struct State: @unchecked Sendable {
        var phase = Phase.opening
        var pending: [UInt8] = []
        var suspended: OpaquePointer?
        var response: HTTPResponse?
        /// Whether the body is complete; `nil` while it arrives.
        var isComplete: Bool?
    }

    private enum Phase {
        case opening, receiving, completing, refused
    }

    /// How many bytes wait for the sink before the connection is suspended.
    private static let maxPending = 256 << 10

    init(_ sink: any HTTPBodySink, _ context: ListenerContext) {
        self.sink = sink
        self.context = context
    }

    /// Called after the headers: asks the sink whether it takes the body. Returns false if that cannot be done now.
    func open(_ connection: OpaquePointer) -> Bool {
        guard state.change({ suspend(connection, &$0) }) else { return false }
        guard tryStartThread({ [self] in run() }) else {
            state.change { resume(&$0) }
            return false
        }
        return true
    }

    /// Called with a part of the body.
    func append(_ bytes: UnsafeRawBufferPointer, _ connection: OpaquePointer) -> Progress {
        state.change { state in
            if let response = state.response { return .respond(response) }
            state.pending += bytes
            return state.pending.count < Self.maxPending || suspend(connection, &state) ? .wait : .stop
        }
    }

    /// Called when libmicrohttpd has no part of the body: after the sink has decided, after the last part, and once the response
    /// is there.
    func proceed(_ connection: OpaquePointer) -> Progress {
        state.change { state in
            if let response = state.response {
                return .respond(state.phase == .completing ? response : response.with("Connection", "close"))
            }
            guard state.phase != .opening else {
                state.phase = .receiving
                return .wait
            }
            state.phase = .completing
            state.isComplete = true
            return suspend(connection, &state) ? .wait : .stop
        }
    }

    /// What the listener does next.
    enum Progress {
        case wait
        case respond(HTTPResponse)
        /// The listener is closing.
        case stop
    }

    /// Called when the request is over: without a complete body, the sink ends here.
    func abort() { state.change { $0.isComplete = $0.isComplete ?? false } }

    // Both are called under the lock, so that no wake-up is lost.
    private func suspend(_ connection: OpaquePointer, _ state: inout State) -> Bool {
        // libmicrohttpd passes on the chunks that it has already read, although the connection is suspended.
        guard state.suspended == nil else { return true }
        guard context.suspend(connection) else { return false }
        state.suspended = connection
        return true
    }

    private func resume(_ state: inout State) {
        if let connection = state.suspended { context.resume(connection) }
        state.suspended = nil
    }

    /// The sink's thread.
    private func run() {
        let refusal = sink.begin()
        state.change { state in
            state.response = refusal
            resume(&state)
        }
        guard refusal == nil else { return }
        while true {
            let (bytes, isComplete) = state.wait { state -> ([UInt8], Bool?)? in
                guard !state.pending.isEmpty || state.isComplete != nil else { return nil }
                let bytes = state.pending
                state.pending = []
                if state.isComplete == nil { resume(&state) }
                return (bytes, state.isComplete)
            }
            if let refusal = bytes.withUnsafeBytes({ $0.isEmpty ? nil : sink.write($0) }) {
                return state.change { state in
                    state.response = refusal
                    if state.phase == .receiving { state.phase = .refused }
                    state.pending = []
                    resume(&state)
                }
            }
            guard let isComplete else { continue }
            let response = sink.end(isComplete: isComplete)
            return state.change { state in
                state.response = response
                resume(&state)
            }
        }
    }
}
