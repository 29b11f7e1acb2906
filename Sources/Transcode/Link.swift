import Glibc
import JobSchema
import Lifecycle
import SlotIPC
import Synchronization

/// The transcoder's end of the link. Requests are serialized across threads: one request, one reply.
final class Link: Sendable {
    private let socket: PacketSocket
    private let reporter: Reporter
    private let turn = Mutex(())

    init(socket: consuming PacketSocket, reporter: Reporter) {
        self.socket = socket
        self.reporter = reporter
    }

    /// Sends the request and waits for its reply. Meanwhile it reports to the worker that the transcoder is alive.
    func ask(_ request: LinkRequest) throws -> Received<LinkAnswer> {
        try turn.withLock { _ in try exchange(request) }
    }

    private func exchange(_ request: LinkRequest) throws -> Received<LinkAnswer> {
        try send(request)
        while try !socket.waitUntilReadable(milliseconds: 500) { reporter.keepAlive() }
        guard let answer = try socket.receive(LinkAnswer.self) else { throw Self.lost }
        if case .refused(let failure) = answer.message { throw failure }
        return answer
    }

    /// Sends a request that has no reply.
    func send(_ request: LinkRequest) throws {
        // A peer that ended with our messages unread resets the connection.
        do { try socket.send(request) } catch PacketError.system(let error)
            where [EPIPE, ECONNRESET].contains(error.rawValue)
        { throw Self.lost }
    }

    /// Waits without a request; fails if `respool-transfer` is gone.
    func idle(milliseconds: CInt) throws {
        let isGone = try turn.withLock { _ in try socket.waitUntilReadable(milliseconds: milliseconds) }
        if isGone { throw Self.lost }
    }

    /// The failure when `respool-transfer` closes the link.
    static var lost: Failure { Failure(.crashed, "respool-transfer exited during a job") }
}
