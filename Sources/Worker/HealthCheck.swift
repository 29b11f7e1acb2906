import FoundationEssentials
import Glibc
import Lifecycle

/// The health check for containers: whether the workers on this machine, or in this container, are running.
package struct HealthCheck: Sendable {
    /// Whether there is at least one worker, and none is stuck.
    package let isHealthy: Bool
    /// The result in one line.
    package let summary: String

    /// Reads the heartbeat files of this user's workers, or of all users' for root, and removes those of killed
    /// workers.
    ///
    /// It does not depend on Redis: if workers were restarted while Redis is down, they would lose their conversions
    /// needlessly.
    package init(folder: String = HeartbeatFile.folder) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let readings = names.filter { $0.hasPrefix(HeartbeatFile.prefix) }.sorted()
            .compactMap { Self.reading("\(folder)/\($0)") }
        let stuck = readings.filter { $0.age > WorkerHealth.longestSilence.milliseconds }
        isHealthy = !readings.isEmpty && stuck.isEmpty
        summary = readings.isEmpty ? "no worker is running here" : readings.map(\.summary).joined(separator: "; ")
    }

    private static func reading(_ path: String) -> HeartbeatReading? {
        let number = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let descriptor = Descriptor(owning: number)
        var status = stat()
        guard fstat(descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == getuid() || getuid() == 0
        else { return nil }
        guard flock(descriptor.number, LOCK_SH | LOCK_NB) != 0 else {
            unlink(path)
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = pread(descriptor.number, &bytes, bytes.count, 0)
        return HeartbeatReading(line: String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
    }
}

private extension HeartbeatReading {
    /// Milliseconds since the file was written.
    var age: Int64 { HeartbeatFile.now() - tick }

    var summary: String {
        guard age <= WorkerHealth.longestSilence.milliseconds else {
            return "worker \(pid) is stuck: no heartbeat for \(age / 1000) s"
        }
        guard let silence else { return "worker \(pid) is running; no reply from Redis yet" }
        return "worker \(pid) is running; last reply from Redis \((silence + age) / 1000) s ago"
    }
}
