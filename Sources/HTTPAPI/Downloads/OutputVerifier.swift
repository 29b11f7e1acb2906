import Crypto
import Glibc
import Lifecycle
import Synchronization

/// Tells whether a file is still what a job made, although its times are later than the end of the job: a `chmod`, a second link or a
/// clock that differs from that of Redis changes them too. Then its SHA-256 decides, which is computed once for each version of a file.
final class OutputVerifier: Sendable {
    private let digests = Mutex<[Version: String]>([:])
    /// Held while a file is hashed, so that many requests hash it once.
    private let hashing = Mutex(())

    private static let maxDigests = 1000

    /// A file as it is at a time; each change of it changes its `ctime`.
    private struct Version: Hashable {
        let device: dev_t
        let inode: ino_t
        let bytes: off_t
        let changed: Int64

        init(_ status: stat) {
            (device, inode, bytes) = (status.st_dev, status.st_ino, status.st_size)
            changed = WallClock.nanoseconds(of: status.st_ctim)
        }
    }

    /// Whether the open file, whose status was just read, has this SHA-256. `finished` is when its job ended, in milliseconds since 1970.
    func isSame(_ file: CInt, _ status: stat, sha256: String, finished: Int64?) throws(Errno) -> Bool {
        let changed = max(WallClock.milliseconds(of: status.st_mtim), WallClock.milliseconds(of: status.st_ctim))
        if let finished, changed <= finished { return true }
        return try digest(file, Version(status)) == sha256
    }

    /// Keeps what is known of a file that this server has just linked, which changed its `ctime` and not its bytes. The status is that
    /// before.
    func keep(_ file: CInt, _ before: stat, sha256: String) {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_size == before.st_size, status.st_ino == before.st_ino,
            WallClock.nanoseconds(of: status.st_mtim) == WallClock.nanoseconds(of: before.st_mtim)
        else { return }
        store(sha256, Version(status))
    }

    private func store(_ digest: String, _ version: Version) {
        digests.withLock { digests in
            if digests.count >= Self.maxDigests, let some = digests.keys.first { digests[some] = nil }
            digests[version] = digest
        }
    }

    /// `nil` if the file changes meanwhile.
    private func digest(_ file: CInt, _ version: Version) throws(Errno) -> String? {
        if let known = digests.withLock({ $0[version] }) { return known }
        return try hashing.withLock { (_) throws(Errno) -> String? in
            if let known = digests.withLock({ $0[version] }) { return known }
            let found = try Digest.ofFile(file).sha256
            var status = stat()
            guard fstat(file, &status) == 0, Version(status) == version else { return nil }
            store(found, version)
            return found
        }
    }
}
