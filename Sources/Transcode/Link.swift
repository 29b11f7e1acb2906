import JobSchema
import Lifecycle
import SlotIPC
import Synchronization

/// The transcoder's end of the link: one request, one answer, whatever thread asks.
final class Link: Sendable {
    private let socket: PacketSocket
    private let reporter: Reporter
    private let turn = Mutex(())

    init(socket: consuming PacketSocket, reporter: Reporter) {
        self.socket = socket
        self.reporter = reporter
    }

    /// Sends the request and waits for its answer, telling the worker each second that this is no silence.
    func ask(_ request: LinkRequest) throws -> Received<LinkAnswer> {
        try turn.withLock { _ in try exchange(request) }
    }

    private func exchange(_ request: LinkRequest) throws -> Received<LinkAnswer> {
        try socket.send(request)
        while try !socket.waitUntilReadable(milliseconds: 500) { reporter.keepAlive() }
        guard let answer = try socket.receive(LinkAnswer.self) else { throw Self.lost }
        if case .refused(let failure) = answer.message { throw failure }
        return answer
    }

    /// Sends a request that is not answered here.
    func send(_ request: LinkRequest) throws(PacketError) {
        try socket.send(request)
    }

    /// Waits while nothing is asked; fails if the other child is gone.
    func idle(milliseconds: CInt) throws {
        let isGone = try turn.withLock { _ in try socket.waitUntilReadable(milliseconds: milliseconds) }
        if isGone { throw Self.lost }
    }

    /// The answer that fits none of the questions.
    static var lost: Failure { Failure(.crashed, "respool-transfer is gone in the middle of a job") }
}
