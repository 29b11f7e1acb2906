import Configuration
import Glibc
import Lifecycle

/// Reports the state of this process to its service manager, such as systemd with `Type=notify`. Without one, it does
/// nothing.
///
/// A separate thread sends the reports. So they are sent also if the rest of the process is stuck: then without
/// `WATCHDOG=1`, and the service manager restarts the process.
final class ServiceNotifier: Sendable {
    private let progress = Monitor(Progress())
    /// Finishes with the last report.
    private let reports: AsyncStream<Never>
    private let log: Log
    private let isAlive: @Sendable () -> Bool
    private let status: @Sendable () -> String
    /// Whether the service manager expects `WATCHDOG=1`.
    private let hasWatchdog: Bool
    private let interval: Duration

    private enum Phase: Int { case starting, ready, stopping }

    private struct Progress {
        var phase = Phase.starting
        var isClosed = false
    }

    /// How often reports are sent, if the watchdog does not demand it more often.
    private static let longestInterval: Duration = .seconds(5)

    /// Sends to the socket that the environment names, until `close`. `isAlive` and `status` are called on a separate
    /// thread, and may block for some seconds.
    init(
        _ environment: Environment, log: Log, isAlive: @escaping @Sendable () -> Bool,
        status: @escaping @Sendable () -> String
    ) {
        (self.log, self.isAlive, self.status) = (log, isAlive, status)
        let timeout = Self.watchdogTimeout(environment)
        hasWatchdog = timeout != nil
        interval = min(timeout.map { $0 / 3 } ?? Self.longestInterval, Self.longestInterval)
        let (reports, ending) = AsyncStream.makeStream(of: Never.self)
        self.reports = reports
        guard let name = environment.foreign("NOTIFY_SOCKET") else {
            ending.finish()
            return
        }
        do throws(Errno) {
            let owner = SocketOwner(try NotifySocket(to: name))
            startThread {
                self.sendReports(owner)
                ending.finish()
            }
        } catch {
            ending.finish()
            log.warning("the service manager's socket '\(name)' (NOTIFY_SOCKET) cannot be used: \(error)")
        }
    }

    /// Reports that the process has started.
    func ready() { enter(.ready) }

    /// Reports that the process is going to end. While it is alive, each further report extends the time limit for that,
    /// so that the service manager does not cut a drain short.
    func stopping() { enter(.stopping) }

    /// Ends the reports, and returns once the last one is sent: that the process stops is reported also if it stops
    /// immediately.
    func close() async {
        progress.change { $0.isClosed = true }
        for await _ in reports {}
    }

    /// No phase follows a later one.
    private func enter(_ next: Phase) {
        progress.change { if $0.phase.rawValue < next.rawValue { $0.phase = next } }
    }

    /// The time without `WATCHDOG=1` after which the service manager restarts this process; `nil` if there is no such
    /// limit, or if it is for another process.
    private static func watchdogTimeout(_ environment: Environment) -> Duration? {
        guard let text = environment.foreign("WATCHDOG_USEC"), let microseconds = Int64(text), microseconds > 0 else {
            return nil
        }
        if let owner = environment.foreign("WATCHDOG_PID"), Int32(owner) != getpid() { return nil }
        return .microseconds(microseconds)
    }

    private func sendReports(_ owner: SocketOwner) {
        var sent = Phase.starting
        var lastStatus = ""
        var hasFailed = false
        while true {
            let (now, isLast) = progress.read { ($0.phase, $0.isClosed) }
            if isLast, now != .stopping || sent == .stopping { return }
            let status = status()
            var assignments = status == lastStatus ? [] : ["STATUS=\(status)"]
            if now != sent { assignments.append(now == .ready ? "READY=1" : "STOPPING=1") }
            // Without a watchdog, only the time to stop depends on it.
            if !isLast, hasWatchdog || now == .stopping, isAlive() {
                if hasWatchdog { assignments.append("WATCHDOG=1") }
                if now == .stopping { assignments.append("EXTEND_TIMEOUT_USEC=\(timeExtension)") }
            }
            do throws(Errno) {
                if !assignments.isEmpty { try owner.socket.send(assignments) }
                (sent, lastStatus, hasFailed) = (now, status, false)
            } catch {
                if !hasFailed { log.warning("reporting to the service manager failed, retrying: \(error)") }
                hasFailed = true
            }
            if isLast { return }
            _ = progress.wait(atMost: interval) { $0.phase == now && !$0.isClosed ? nil : () }
        }
    }

    /// Microseconds until the service manager's time limit, from each report on: two may be late.
    private var timeExtension: Int64 { interval.milliseconds * 1000 * 3 }
}

/// Shares the socket with the thread that sends.
private final class SocketOwner: Sendable {
    let socket: NotifySocket

    init(_ socket: consuming NotifySocket) { self.socket = socket }
}
