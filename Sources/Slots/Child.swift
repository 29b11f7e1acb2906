import Glibc
import Lifecycle
import SlotIPC
import Synchronization

/// A running child process: its control socket, the thread that receives from it, and its process id until it is
/// reaped.
final class Child: Sendable {
    let name: String
    private let socket: PacketSocket
    private let state: Mutex<State>
    private let silenced: @Sendable () -> Void
    private let wrote: @Sendable (String) -> Void
    /// Where the kernel limits its threads; `nil` if there is none.
    private let group: ControlGroup?
    /// The number of threads above which it is killed.
    private let maxThreads = Atomic(Child.baseThreads + CoreBudget.available)

    /// The threads that a child may have besides those of its conversion: those of libcurl's resolver, and those that write to
    /// disks, read messages and compute sums. A child that was taken over could otherwise take all threads that the host has for its
    /// user, as no filter of system calls counts them.
    private static let baseThreads = 64
    /// The time between two counts of its threads.
    private static let countInterval: Duration = .seconds(1)

    private struct State {
        /// `nil` once the child is reaped, because its id may then be another process's.
        var pid: pid_t?
        /// Whether it was asked to exit.
        var isClosing = false
        var isKilled = false
        /// The first reason for which the worker killed it.
        var reason: String?
    }

    /// How a child ended.
    struct Ending: Sendable, CustomStringConvertible {
        let name: String
        let status: CInt
        var reason: String?

        /// Whether something other than the worker killed it.
        var wasKilled: Bool { reason == nil && status & 0x7f == SIGKILL }

        var description: String {
            if let reason { return "\(name) \(reason) and was killed" }
            let signal = status & 0x7f
            if signal != 0 {
                return "\(name) was terminated by signal \(signal) (\(String(cString: strsignal(signal))))"
            }
            return "\(name) ended with exit status \((status >> 8) & 0xff)"
        }
    }

    /// The handlers of a child's reports, output and end.
    struct Handlers<Report: Sendable>: Sendable {
        /// Handles a report of that size in bytes; returns false if there is no room for it.
        var report: @Sendable (Report, Int) -> Bool
        /// The child is being killed, so its unread reports are discarded.
        var silenced: @Sendable () -> Void = {}
        var ended: @Sendable (Ending) -> Void
        /// A line of its standard error.
        var wrote: @Sendable (String) -> Void
    }

    /// Takes ownership of a process that was just started, and receives its reports until it ends. Kills it and throws if the system
    /// has no thread for that.
    init<Report: Decodable & Sendable>(
        name: String, pid: pid_t, socket: consuming PacketSocket, errors: consuming Descriptor,
        _ handlers: Handlers<Report>
    ) throws(Errno) {
        self.name = name
        self.socket = socket
        state = Mutex(State(pid: pid))
        silenced = handlers.silenced
        wrote = handlers.wrote
        group = ControlGroup(of: pid, maxThreads: Self.baseThreads + CoreBudget.available + 1)
        if group == nil, ControlGroup.isInUse { reportUnlimited() }
        let pipe = errors.release()
        let isStarted = tryStartThread { [self] in
            var errors = StandardErrorLog(Descriptor(owning: pipe), write: handlers.wrote)
            receive(&errors, handlers.report)
            awaitEnd(&errors)
            errors.finish()
            handlers.ended(reap())
        }
        guard isStarted else {
            _ = Descriptor(owning: pipe)
            kill()
            _ = reap()
            throw Errno(rawValue: EAGAIN)
        }
    }

    /// Sends an order. A child that has ended is reported by `ended`; one whose socket buffer is full is killed.
    func send(_ order: some Encodable, descriptor: CInt? = nil) {
        do { try socket.send(order, descriptor: descriptor ?? -1, waits: false) } catch {
            kill(because: error == Self.isFull ? "does not read its messages" : nil)
        }
    }

    /// Sends an order once the socket's buffer has room, without blocking a thread; returns if the child is killed
    /// first.
    ///
    /// For callers that send more at once than a buffer holds, and that set an alarm for a child that does not read.
    func sendWaiting(_ order: some Encodable & Sendable) async {
        while isUsable {
            if socket.isWritable {
                do throws(PacketError) { return try socket.send(order, waits: false) } catch {
                    guard error == Self.isFull else { return kill() }
                }
            }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    private static let isFull = PacketError.system(Errno(rawValue: EAGAIN))

    /// Asks the child to exit: it reads the end of its socket.
    func close() {
        state.withLock { $0.isClosing = true }
        socket.shutDown()
    }

    /// `nil` once the child is reaped.
    var processIdentifier: pid_t? { state.withLock { $0.pid } }

    var isReaped: Bool { processIdentifier == nil }

    /// Whether it is running and was not killed.
    var isUsable: Bool { state.withLock { $0.pid != nil && !$0.isKilled } }

    /// Lets the child have threads for a conversion: those that encode, and one for each output and one for an encoder that must
    /// continue.
    func allow(encoders: Int, outputs: Int) {
        let limit = Self.baseThreads + encoders + 2 * outputs
        maxThreads.store(limit, ordering: .relaxed)
        // One more, with which it is killed.
        guard let group, !group.limit(threads: limit + 1) else { return }
        state.withLock { if let pid = $0.pid { group.release(pid) } }
        reportUnlimited()
    }

    private static let hasReported = Atomic(false)

    /// Logs, for the first of all children, that its threads are only counted.
    private func reportUnlimited() {
        guard !Self.hasReported.exchange(true, ordering: .relaxed) else { return }
        wrote("no control group can limit the threads of this process: they are counted only")
    }

    /// Kills the child if it has too many threads.
    private func countThreads() {
        guard let count = state.withLock({ $0.pid.flatMap(ProcessFile.threads(of:)) }) else { return }
        let limit = maxThreads.load(ordering: .relaxed)
        if count > limit { kill(because: "has \(count) threads, of \(limit) that it may have,") }
    }

    /// Whether it has sent something that the worker has not received.
    var hasUnread: Bool { (try? socket.waitUntilReadable(milliseconds: 0)) ?? false }

    /// Kills the child at once; its unread messages are discarded. Only the first reason is reported.
    func kill(because reason: String? = nil) {
        state.withLock { state in
            guard let pid = state.pid else { return }
            if !state.isKilled { state.reason = reason }
            state.isKilled = true
            _ = Glibc.kill(pid, SIGKILL)
        }
        silenced()
    }

    // MARK: The child's thread

    /// The rate limit for a child's messages: it allows the bursts of a job with many outputs, but on average much less
    /// than one processor can handle.
    private static let burstBytes = 16 << 20
    private static let bytesPerSecond = 1 << 20
    private static let messageBytes = 512

    private func receive<Report: Decodable & Sendable>(
        _ errors: inout StandardErrorLog, _ report: (Report, Int) -> Bool
    ) {
        var budget = TokenBucket(capacity: Self.burstBytes, perSecond: Self.bytesPerSecond)
        var nextCount = ContinuousClock.now + Self.countInterval
        do {
            while true {
                if .now >= nextCount {
                    countThreads()
                    nextCount = .now + Self.countInterval
                }
                guard waitForSocket(&errors) else { continue }
                guard let received = try socket.receive(Report.self) else { return }
                guard budget.take(received.size + Self.messageBytes), report(received.message, received.size) else {
                    return kill(because: "sent more messages than its limit")
                }
            }
        } catch {
            // A child that sends a malformed message is no longer trusted.
            kill(because: "sent an invalid message")
        }
    }

    /// Waits for a message or for output on standard error, and reads the latter; returns true if the socket is
    /// readable.
    private func waitForSocket(_ errors: inout StandardErrorLog) -> Bool {
        let (pipe, pause) = errors.pollEntry()
        let interval = CInt(Self.countInterval / .milliseconds(1))
        let milliseconds = pause < 0 ? interval : min(pause, interval)
        var entries = [
            pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: pipe, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&entries, 2, milliseconds) > 0 else { return false }
        if entries[1].revents != 0 { errors.read() }
        return entries[0].revents != 0
    }

    /// Waits for the child to exit after it closed its socket. It is killed if it was not asked to exit and does not
    /// exit in time.
    private func awaitEnd(_ errors: inout StandardErrorLog) {
        let deadline = ContinuousClock.now + .seconds(2)
        var pause: CInt = 1
        while !hasExited {
            var entry = pollfd(fd: errors.pollEntry().descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&entry, 1, pause) > 0 { errors.read() }
            pause = min(2 * pause, 20)
            if .now >= deadline, !state.withLock({ $0.isClosing || $0.isKilled }) { kill(because: "closed its socket") }
        }
    }

    /// Whether the process has exited. It is not reaped here, so that no signal can be sent to an id that was reused.
    private var hasExited: Bool {
        guard let number = processIdentifier else { return true }
        var information = siginfo_t()
        let isKnown = waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT | WNOHANG) == 0
        return isKnown ? information.si_signo == SIGCHLD : errno != EINTR
    }

    private func reap() -> Ending {
        guard let number = processIdentifier else { return Ending(name: name, status: 0) }
        var status: CInt = 0
        let reason = state.withLock { state in
            waitpid(number, &status, 0)
            state.pid = nil
            return state.reason
        }
        group?.remove()
        return Ending(name: name, status: status, reason: reason)
    }
}
