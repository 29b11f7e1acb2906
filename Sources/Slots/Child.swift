import Glibc
import Lifecycle
import SlotProtocol
import Synchronization

/// A running child: its control socket, the thread that receives from it, and its process id until it is reaped.
final class Child: Sendable {
    let name: String
    private let socket: PacketSocket
    /// Nothing once the child is reaped: its number may then be another process's.
    private let pid: Mutex<pid_t?>

    /// How a child ended.
    struct Ending: Sendable, CustomStringConvertible {
        let name: String
        let status: CInt

        var description: String {
            let signal = status & 0x7f
            if signal != 0 { return "\(name) was ended by signal \(signal) (\(String(cString: strsignal(signal))))" }
            return "\(name) ended with exit status \((status >> 8) & 0xff)"
        }
    }

    /// Takes over a process that was just started, and receives its reports until it ends.
    init<Report: Decodable & Sendable>(
        name: String, pid: pid_t, socket: consuming PacketSocket, report: @escaping @Sendable (Report) -> Void,
        ended: @escaping @Sendable (Ending) -> Void
    ) {
        self.name = name
        self.socket = socket
        self.pid = Mutex(pid)
        startThread { [self] in
            receive(report)
            ended(reap())
        }
    }

    /// Sends an order; a child that is gone says so by its ending.
    func send(_ order: some Encodable, descriptor: CInt? = nil) {
        do { try socket.send(order, descriptor: descriptor ?? -1) } catch { kill() }
    }

    /// Asks the child to end by itself: it sees the end of its socket.
    func close() {
        socket.shutDown()
    }

    /// Nothing once the child is reaped.
    var processIdentifier: pid_t? { pid.withLock { $0 } }

    var isReaped: Bool { processIdentifier == nil }

    func kill() {
        pid.withLock { if let pid = $0 { _ = Glibc.kill(pid, SIGKILL) } }
    }

    private func receive<Report: Decodable & Sendable>(_ report: (Report) -> Void) {
        do {
            while let received = try socket.receive(Report.self) { report(received.message) }
        } catch {
            // A child that sends what cannot be read is not to be trusted any more.
            kill()
        }
    }

    private func reap() -> Ending {
        var information = siginfo_t()
        guard let number = pid.withLock({ $0 }) else { return Ending(name: name, status: 0) }
        // Waits without reaping, so that nobody can send a signal to a number that is already somebody else's.
        while waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
        var status: CInt = 0
        pid.withLock { pid in
            waitpid(number, &status, 0)
            pid = nil
        }
        return Ending(name: name, status: status)
    }
}
