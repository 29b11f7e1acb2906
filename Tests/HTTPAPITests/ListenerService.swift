import Glibc
import HTTPServer
import Synchronization

/// Repeats requests, waits, and opens streams.
struct ListenerService: HTTPService {
    var onWait: @Sendable () async -> Void = { try? await Task.sleep(for: .seconds(3)) }
    var onStream: @Sendable (HTTPStream) -> Void = { _ in }
    var sink = RecordingSink()
    /// What `/file` sends.
    var file: @Sendable () -> HTTPResponse = { HTTPResponse("") }

    func decide(_ request: HTTPRequest) -> HTTPDecision {
        switch request.path {
        case "/echo":
            .process(maxBodyBytes: 1000) { request in
                await Task.yield()
                let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
                let text = [
                    request.method, query, request.header("x-test") ?? "",
                    String(decoding: request.body, as: UTF8.self),
                ].joined(separator: " ")
                return HTTPResponse(status: 201, text)
            }
        case "/wait":
            .process(maxBodyBytes: 0) { _ in
                await onWait()
                return HTTPResponse("waited")
            }
        case "/stream":
            .process(maxBodyBytes: 0) { _ in
                let stream = HTTPStream()
                onStream(stream)
                return HTTPResponse(contentType: "text/event-stream", .stream(stream))
            }
        case "/file": .process(maxBodyBytes: 0) { _ in file() }
        case "/sink": .receive(maxBodyBytes: 1 << 20, sink)
        default: .answer(HTTPResponse("hello"))
        }
    }
}

/// Keeps what it gets, with a pause after each part.
final class RecordingSink: HTTPBodySink {
    private let state = Mutex((bytes: [UInt8](), end: Bool?.none))
    private let pause: UInt32
    private let endPause: UInt32
    private let refusal: HTTPResponse?
    private let maxBytes: Int

    init(pause: UInt32 = 0, endPause: UInt32 = 0, refusal: HTTPResponse? = nil, maxBytes: Int = .max) {
        self.pause = pause
        self.endPause = endPause
        self.refusal = refusal
        self.maxBytes = maxBytes
    }

    var received: [UInt8] { state.withLock { $0.bytes } }
    var end: Bool? { state.withLock { $0.end } }

    func begin() -> HTTPResponse? { refusal }

    func write(_ bytes: UnsafeRawBufferPointer) -> HTTPResponse? {
        let count = state.withLock { state in
            state.bytes += bytes
            return state.bytes.count
        }
        usleep(pause)
        return count <= maxBytes ? nil : HTTPResponse(status: 507, "full")
    }

    func end(isComplete: Bool) -> HTTPResponse {
        usleep(endPause)
        return state.withLock { state in
            state.end = isComplete
            return HTTPResponse("\(state.bytes.count) \(isComplete)")
        }
    }
}
