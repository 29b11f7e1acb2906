import Configuration
import Glibc
package import Lifecycle

/// A small file in shared memory that shows `respoold worker --check` that this worker is running; it is removed with
/// its owner.
///
/// The worker holds a lock on the file for its whole life, so the check does not depend on process ids. Shared memory
/// exists in every container, even if the root is read-only, and needs no disk write every second.
package final class HeartbeatFile: Sendable {
    /// The folder of heartbeat files: `RESPOOL_STATE_DIR`, or shared memory.
    package static var folder: String { Environment.process.text(Settings.stateFolder) ?? "/dev/shm" }

    static let prefix = "respool-worker-"

    private let descriptor: Descriptor
    private let path: String

    /// Creates the file and locks it. The corresponding C function is `flock`.
    package init(nonce: String, folder: String = folder) throws(Errno) {
        // Removes the files of killed workers.
        _ = HealthCheck(folder: folder)
        path = "\(folder)/\(Self.prefix)\(nonce)"
        let draft = "\(folder)/.\(Self.prefix)\(nonce)"
        let number = open(draft, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard number >= 0 else { throw .last }
        descriptor = Descriptor(owning: number)
        // Locked before it gets its final name, because an unlocked file is considered that of a killed worker.
        guard flock(number, LOCK_EX | LOCK_NB) == 0, rename(draft, path) == 0 else {
            let error = Errno.last
            unlink(draft)
            throw error
        }
        renew(silence: nil)
    }

    deinit { unlink(path) }

    /// Records that the worker is running, and the time since the last reply of Redis.
    func renew(silence: Duration?) {
        var line = HeartbeatReading(pid: getpid(), tick: Self.now(), silence: silence?.milliseconds).line
        line.withUTF8 { bytes in _ = pwrite(descriptor.number, bytes.baseAddress, bytes.count, 0) }
    }

    /// Milliseconds of a clock that is the same for all processes of the machine and is never set.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return WallClock.milliseconds(of: time)
    }
}

/// The content of a heartbeat file.
struct HeartbeatReading: Hashable {
    let pid: Int32
    /// When it was written, in milliseconds of `HeartbeatFile.now`.
    let tick: Int64
    /// Milliseconds from the last reply of Redis to when the file was written; `nil` before the first reply.
    let silence: Int64?

    private static let width = 64

    init(pid: Int32, tick: Int64, silence: Int64?) {
        self.pid = pid
        self.tick = tick
        self.silence = silence
    }

    /// One line of fixed width, so that each write replaces the previous one completely.
    var line: String {
        let text = "\(pid) \(tick) \(silence ?? -1)"
        return text + String(repeating: " ", count: max(0, Self.width - 1 - text.utf8.count)) + "\n"
    }

    init?(line: String) {
        let numbers = line.split { $0 == " " || $0 == "\n" }.compactMap { Int64($0) }
        guard numbers.count == 3, let pid = Int32(exactly: numbers[0]) else { return nil }
        self.init(pid: pid, tick: numbers[1], silence: numbers[2] < 0 ? nil : numbers[2])
    }
}
