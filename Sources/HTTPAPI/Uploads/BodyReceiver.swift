import HTTPServer
import Lifecycle

/// What takes the raw body of a route as it arrives. The calls block, and come from one thread.
protocol BodyReceiver: Sendable {
    /// Called after the headers; throws if the body is not wanted.
    func begin() throws(Problem)
    /// Takes the next bytes; throws if the rest is not wanted, and no other call follows.
    func write(_ bytes: UnsafeRawBufferPointer) throws(Problem)
    /// Called after the last byte, or after the connection was lost.
    func end(isComplete: Bool) throws(Problem) -> Reply
}

/// Answers for a receiver.
struct ReceiverSink: HTTPBodySink {
    let receiver: any BodyReceiver
    let respond: @Sendable (Result<Reply, Problem>) -> HTTPResponse

    func begin() -> HTTPResponse? {
        do throws(Problem) { try receiver.begin() } catch { return respond(.failure(error)) }
        return nil
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> HTTPResponse? {
        do throws(Problem) { try receiver.write(bytes) } catch { return respond(.failure(error)) }
        return nil
    }

    func end(isComplete: Bool) -> HTTPResponse {
        respond(Result { () throws(Problem) in try receiver.end(isComplete: isComplete) })
    }
}
