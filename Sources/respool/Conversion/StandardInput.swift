import CLinux
import Glibc
import Lifecycle
import SlotProtocol

/// Standard input as a source: the file that it is, or else an unnamed file that all of it was copied to.
final class StandardInput: Sendable {
    /// How another process of this user opens it.
    let path: String
    private let copy: Descriptor?

    /// Reads all of a pipe before it returns, for most formats can only be read from a file.
    static func open(_ policy: TransferPolicy) throws(CommandFailure) -> StandardInput {
        guard isatty(STDIN_FILENO) == 0 else {
            throw .usage("standard input is a terminal: pipe the audio into it, or name a file")
        }
        var status = stat()
        let isFile = fstat(STDIN_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let own = "/proc/\(getpid())/fd/\(STDIN_FILENO)"
        // What was read of it already, or cannot be opened once more, comes as if through a pipe.
        if isFile, lseek(STDIN_FILENO, 0, SEEK_CUR) == 0, access(own, R_OK) == 0 {
            return StandardInput(path: own, copy: nil)
        }
        let made = clinux_open_unnamed(policy.spoolFolder, 0o600)
        guard made >= 0 else {
            throw .failed("standard input cannot be kept in '\(policy.spoolFolder)': \(Errno.last); give --spool-dir")
        }
        let file = Descriptor(owning: made)
        try copyAll(to: file.number, limit: policy.mostSourceBytes)
        return StandardInput(path: "/proc/\(getpid())/fd/\(made)", copy: file)
    }

    private init(path: String, copy: consuming Descriptor?) {
        self.path = path
        self.copy = copy
    }

    private static func copyAll(to target: CInt, limit: Int64) throws(CommandFailure) {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var total: Int64 = 0
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .failed("standard input cannot be read: \(Errno.last)") }
            guard count > 0 else { return }
            total += Int64(count)
            guard total <= limit else { throw .failed("standard input has over \(limit) bytes, which is the limit") }
            var done = 0
            while done < count {
                let written = buffer.withUnsafeBytes { write(target, $0.baseAddress! + done, count - done) }
                if written < 0, errno == EINTR { continue }
                guard written > 0 else {
                    throw .failed("standard input cannot be kept: \(Errno.last); give --spool-dir")
                }
                done += written
            }
        }
    }
}
