import Configuration
import Glibc
import Jobs
import Lifecycle
import TestSupport
import Testing

@testable import Worker
@testable import respoold

/// What a service manager such as systemd is told.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ServiceNotifierTests {
    @Test func `the watchdog is only fed, and a drain only extended, while the process is alive`() async throws {
        let manager = try ServiceManager()
        let isAlive = Monitor(true)
        let asked = Monitor(0)
        let notifier = ServiceNotifier(
            Environment(["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "60000"]), log: Log(least: .error),
            isAlive: {
                asked.change { $0 += 1 }
                return isAlive.read { $0 }
            }, status: { "well" })
        notifier.ready()
        try await eventually("it is ready") { manager.received().contains("READY=1") }
        try await eventually("the watchdog is fed") { manager.received().contains("WATCHDOG=1") }
        notifier.stopping()
        try await eventually("the drain is extended") { manager.received().contains("EXTEND_TIMEOUT_USEC=60000") }
        isAlive.change { $0 = false }
        // What is on its way when it is asked arrives before it is asked again.
        func asksAgain(_ count: Int) async throws {
            let before = asked.read { $0 }
            try await eventually("it asks again") { asked.read { $0 } >= before + count }
        }
        try await asksAgain(2)
        _ = manager.received()
        try await asksAgain(2)
        #expect(manager.received() == [])
        isAlive.change { $0 = true }
        try await eventually("it is alive again") { manager.received().contains("WATCHDOG=1") }
        notifier.ready()
        await notifier.close()
        #expect(!manager.received().contains("READY=1"), "a process that stops is not ready again")
    }

    @Test func `a process that stops immediately reports it`() async throws {
        let manager = try ServiceManager()
        // The report of a slow status is in progress meanwhile.
        let notifier = ServiceNotifier(
            Environment(["NOTIFY_SOCKET": manager.path]), log: Log(least: .error), isAlive: { true },
            status: {
                usleep(50_000)
                return "well"
            })
        notifier.ready()
        try await eventually("it is ready") { manager.received().contains("READY=1") }
        notifier.stopping()
        await notifier.close()
        #expect(manager.received().contains("STOPPING=1"))
    }

    @Test func `a watchdog of another process is not fed`() async throws {
        let manager = try ServiceManager()
        let notifier = ServiceNotifier(
            Environment(["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "60000", "WATCHDOG_PID": "1"]),
            log: Log(least: .error), isAlive: { true }, status: { "well" })
        // A watchdog is fed with each report.
        var received: [String] = []
        func reports(_ assignment: String) async throws {
            try await eventually(assignment) {
                received += manager.received()
                return received.contains(assignment)
            }
        }
        try await reports("STATUS=well")
        notifier.ready()
        try await reports("READY=1")
        notifier.stopping()
        try await reports("STOPPING=1")
        await notifier.close()
        #expect(!(received + manager.received()).contains("WATCHDOG=1"), "\(received)")
    }

    @Test func `the state of a worker is one line`() {
        let health = WorkerHealth(log: Log(least: .error), metrics: WorkerMetrics(Metrics()), hasSeveralQueues: false)
        #expect(health.summary == "starting; no reply from Redis yet")
        health.started()
        health.answered(.default)
        health.runs(1)
        #expect(health.summary == "running 1 job")
        health.runs(2)
        health.drains()
        #expect(health.summary == "draining 2 jobs")
    }
}

/// A socket to which services report.
private final class ServiceManager: Sendable {
    let path: String
    private let folder: TemporaryFolder
    private let socket: Descriptor

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("notify")
        socket = Descriptor(owning: Glibc.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw Errno.last }
    }

    /// The assignments that have arrived since the last call.
    func received() -> [String] {
        var assignments: [String] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(socket.number, &buffer, buffer.count, CInt(MSG_DONTWAIT)), count > 0 {
            assignments += String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
        }
        return assignments
    }
}
