import Glibc
package import Lifecycle

/// A small file in shared memory by which `respoold worker --check` sees that this worker lives; removed with its owner.
///
/// The file is locked as long as its worker lives, whatever becomes of its process id. Shared memory is there in every
/// container, also where the root is read-only, and costs no disk a write a second.
package final class HeartbeatFile: Sendable {
    /// Where heartbeat files are: `RESPOOL_STATE_DIR`, or shared memory.
    package static var folder: String { Environment.value("RESPOOL_STATE_DIR") ?? "/dev/shm" }

    static let prefix = "respool-worker-"

    private let descriptor: Descriptor
    private let path: String

    /// Makes the file, and holds its lock. The corresponding C function is `flock`.
    package init(nonce: String, folder: String = folder) throws(Errno) {
        // Which removes what killed workers left.
        _ = HealthCheck(folder: folder)
        path = "\(folder)/\(Self.prefix)\(nonce)"
        let draft = "\(folder)/.\(Self.prefix)\(nonce)"
        let number = open(draft, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard number >= 0 else { throw .last }
        descriptor = Descriptor(owning: number)
        // Locked before it can be found: an unlocked file is taken for one that a killed worker left.
        guard flock(number, LOCK_EX | LOCK_NB) == 0, rename(draft, path) == 0 else {
            let error = Errno.last
            unlink(draft)
            throw error
        }
        renew(silence: nil)
    }

    deinit { unlink(path) }

    /// Says that the worker lives, and how long ago Redis answered it.
    func renew(silence: Duration?) {
        var line = HeartbeatReading(pid: getpid(), tick: Self.now(), silence: silence?.milliseconds).line
        line.withUTF8 { bytes in _ = pwrite(descriptor.number, bytes.baseAddress, bytes.count, 0) }
    }

    /// Milliseconds of a clock that all processes of the machine share, and that nobody sets.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// What a heartbeat file says.
struct HeartbeatReading: Hashable {
    let pid: Int32
    /// When it was written, in milliseconds of `HeartbeatFile.now`.
    let tick: Int64
    /// Milliseconds since Redis answered, when it was written; nothing before its first answer.
    let silence: Int64?

    private static let width = 64

    init(pid: Int32, tick: Int64, silence: Int64?) {
        self.pid = pid
        self.tick = tick
        self.silence = silence
    }

    /// One line of fixed width, so that a later one covers it.
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
