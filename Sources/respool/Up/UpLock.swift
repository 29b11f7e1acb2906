import FoundationEssentials
import Glibc
import Lifecycle

/// The lock on a data folder. Redis inherits it, so that a second server never opens the files of one that still ends.
struct UpLock: ~Copyable, Sendable {
    let descriptor: Descriptor
    private let path: String

    /// Locks the folder. The corresponding C function is `flock`.
    init(_ folder: UpFolder) async throws(CommandFailure) {
        descriptor = try await Self.take(folder)
        path = folder.lock
    }

    /// Writes which address this process serves, for others that want the folder.
    borrowing func write(address: String) throws(CommandFailure) {
        let line = Array("\(getpid()) \(address)\n".utf8)
        guard ftruncate(descriptor.number, 0) == 0, pwrite(descriptor.number, line, line.count, 0) == line.count else {
            throw .failed("cannot write to '\(path)': \(Errno.last)")
        }
    }

    private static func take(_ folder: UpFolder) async throws(CommandFailure) -> Descriptor {
        let opened = open(folder.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard opened >= 0 else {
            throw .failed("cannot write to '\(folder.lock)': \(Errno.last); give another folder with --data")
        }
        let descriptor = Descriptor(owning: opened)
        let end = ContinuousClock.now + .seconds(10)
        while flock(descriptor.number, LOCK_EX | LOCK_NB) != 0 {
            let (pid, address) = owner(folder.lock)
            guard let pid, kill(pid, 0) != 0, errno == ESRCH else {
                throw .failed(
                    "`respool up` already runs\(address.map { " at \($0)" } ?? "") (process \(pid.map(String.init) ?? "unknown")) "
                        + "with the folder '\(folder.path)': stop it, or give another folder with --data")
            }
            // Its Redis ends with it.
            guard .now < end else {
                throw .failed(
                    "the redis-server of an earlier `respool up` still uses '\(folder.redis)': wait until it ends, or stop it"
                )
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
        return descriptor
    }

    private static func owner(_ path: String) -> (pid: pid_t?, address: String?) {
        let text = (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let words = text.split { $0 == " " || $0 == "\n" }
        return (words.first.flatMap { pid_t($0) }, words.count > 1 ? String(words[1]) : nil)
    }
}
