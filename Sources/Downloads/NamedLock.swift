import CLinux
import Crypto
import Glibc
import JobSchema
import Lifecycle
import LocalFiles

/// One of the permits of a name. No other process holds it at the same time, and the kernel releases it when the process ends.
///
/// Permits are locks on bytes of a file that all processes open. The offsets of different names are far apart, and no byte is
/// written.
struct NamedLock: ~Copyable {
    private let file: Descriptor

    private init(owning file: consuming Descriptor) { self.file = file }

    /// The maximum number of permits per name.
    static let maxPermits = 1024
    /// This prefix keeps the file from being removed with the staged files.
    private static let fileName = Destination.keptPrefix + "locks"

    /// Takes a permit of the name among all processes that share the folder; `nil` if all are taken.
    static func take(_ name: String, permits: Int = 1, in folder: String) throws(Failure) -> NamedLock? {
        let file = try open(folder)
        let start = Int64(Digest.of(Array(name.utf8)).prefix(13), radix: 16)! * Int64(maxPermits)
        for permit in 0..<min(permits, maxPermits) {
            if clinux_lock_byte(file.number, start + Int64(permit)) == 0 { return NamedLock(owning: file) }
            guard [EAGAIN, EACCES].contains(errno) else { throw unusable(folder, .last) }
        }
        return nil
    }

    private static func open(_ folder: String) throws(Failure) -> Descriptor {
        let path = "\(folder)/\(fileName)"
        // In a world-writable folder such as /tmp, the kernel refuses to open another user's file with O_CREAT.
        var opened = Glibc.open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        if opened < 0 { opened = Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666) }
        guard opened >= 0 else { throw unusable(folder, .last) }
        return Descriptor(owning: opened)
    }

    private static func unusable(_ folder: String, _ error: Errno) -> Failure {
        Failure(.internal, "the locks in '\(folder)/\(fileName)' cannot be used: \(error)")
    }
}
