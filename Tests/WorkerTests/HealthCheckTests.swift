import Glibc
import Lifecycle
import TestSupport
import Testing

@testable import Worker

@Suite(.failureReport, .timeLimit(.minutes(5))) struct HealthCheckTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `the check is unhealthy if no worker runs`() {
        let check = HealthCheck(folder: folder.path)
        #expect(!check.isHealthy)
        #expect(check.summary == "no worker is running here")
    }

    @Test func `the check finds a live worker, also one that Redis does not answer`() throws {
        let sign = try HeartbeatFile(nonce: "a", folder: folder.path)
        #expect(HealthCheck(folder: folder.path).isHealthy)
        #expect(HealthCheck(folder: folder.path).summary == "worker \(getpid()) is running; no reply from Redis yet")
        sign.renew(silence: .seconds(100))
        #expect(HealthCheck(folder: folder.path).isHealthy)
        let words = "worker \(getpid()) is running; last reply from Redis "
        #expect(HealthCheck(folder: folder.path).summary.firstMatch(of: /^(.*)1\d\d s ago$/)?.1 ?? "" == words)
        withExtendedLifetime(sign) {}
    }

    @Test func `the check finds a stuck worker beside a live one`() throws {
        let stuck = try HeartbeatFile(nonce: "stuck", folder: folder.path)
        let reading = HeartbeatReading(pid: 1234, tick: HeartbeatFile.now() - 60_000, silence: 0)
        try folder.write("respool-worker-stuck", text: "")
        let file = Descriptor(owning: open(folder.file("respool-worker-stuck"), O_WRONLY))
        var line = reading.line
        line.withUTF8 { _ = write(file.number, $0.baseAddress, $0.count) }
        let living = try HeartbeatFile(nonce: "living", folder: folder.path)
        let check = HealthCheck(folder: folder.path)
        withExtendedLifetime((stuck, living)) {}
        #expect(!check.isHealthy)
        #expect(check.summary.contains(/worker 1234 is stuck: no heartbeat for \d\d s/))
    }

    @Test func `the check ignores a worker that was killed, and one that ended`() throws {
        try folder.write(
            "respool-worker-killed", text: HeartbeatReading(pid: 1, tick: HeartbeatFile.now(), silence: 0).line)
        #expect(!HealthCheck(folder: folder.path).isHealthy)
        #expect(access(folder.file("respool-worker-killed"), F_OK) != 0)
        do { _ = try HeartbeatFile(nonce: "ended", folder: folder.path) }
        #expect(access(folder.file("respool-worker-ended"), F_OK) != 0)
    }
}
