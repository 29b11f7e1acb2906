import CLinux
import Glibc
import Lifecycle
import SlotIPC

/// A source that only this process can open: standard input, another of its descriptors, or a named pipe.
final class PipedInput: Sendable {
    /// The path in this process.
    let path: String
    /// The path in `respool-transfer`, which has a copy of the descriptor and cannot access those of other processes.
    let sourcePath = "/proc/self/fd/\(ChildDescriptor.source)"
    private let file: Descriptor

    /// The descriptor, borrowed. It is valid while this owner exists.
    var descriptor: CInt { file.number }

    /// Opens the source if it is a pipe or a descriptor; otherwise `nil`. A pipe is read to its end before this returns,
    /// because most formats require a seekable file.
    static func open(_ source: String, _ policy: TransferPolicy) throws(CommandFailure) -> PipedInput? {
        if source == "-" { return try standard(policy) }
        guard let path = pathOnlyHere(source) else { return nil }
        let opened = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { throw .failed("\(source): it cannot be read: \(Errno.last)") }
        return try PipedInput(Descriptor(owning: opened), "'\(source)'", policy)
    }

    /// The path of a pipe or a descriptor, such as that of `<(…)` in a shell.
    private static func pathOnlyHere(_ source: String) -> String? {
        guard !SourceAddress.isURL(source), let path = try? SourceAddress.absolutePath(source) else { return nil }
        let isDescriptor = ["/dev/fd/", "/dev/stdin", "/proc/self/fd/"].contains { path.hasPrefix($0) }
        var status = stat()
        let isPipe = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
        return isDescriptor || isPipe ? path : nil
    }

    private static func standard(_ policy: TransferPolicy) throws(CommandFailure) -> PipedInput {
        guard isatty(STDIN_FILENO) == 0 else {
            throw .usage("standard input is a terminal: pipe the audio into it, or give a file")
        }
        let own = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
        guard own >= 0 else { throw .failed("standard input cannot be read: \(Errno.last)") }
        return try PipedInput(Descriptor(owning: own), "standard input", policy)
    }

    /// Uses the descriptor's file, or copies its contents to an unnamed file.
    private init(_ input: consuming Descriptor, _ name: String, _ policy: TransferPolicy) throws(CommandFailure) {
        var status = stat()
        let isFile = fstat(input.number, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let own = "/proc/\(getpid())/fd/\(input.number)"
        // A file that has been partly read, or that cannot be reopened, is copied like a pipe.
        if isFile, lseek(input.number, 0, SEEK_CUR) == 0, access(own, R_OK) == 0 {
            path = own
            file = input
            return
        }
        let made = clinux_open_unnamed(policy.spoolFolder, 0o600)
        guard made >= 0 else {
            throw .failed("\(name) cannot be kept in '\(policy.spoolFolder)': \(Errno.last); give --spool-dir")
        }
        let copy = Descriptor(owning: made)
        try Self.copyAll(from: input.number, name, to: made, limit: policy.maxSourceBytes)
        path = "/proc/\(getpid())/fd/\(made)"
        file = copy
    }

    private static func copyAll(
        from source: CInt, _ name: String, to target: CInt, limit: Int64
    ) throws(CommandFailure) {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var total: Int64 = 0
        while true {
            let count = read(source, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .failed("\(name) cannot be read: \(Errno.last)") }
            guard count > 0 else { return }
            total += Int64(count)
            guard total <= limit else { throw .failed("\(name) exceeds the limit of \(limit) bytes") }
            var done = 0
            while done < count {
                let written = buffer.withUnsafeBytes { write(target, $0.baseAddress! + done, count - done) }
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw .failed("\(name) cannot be kept: \(Errno.last); give --spool-dir") }
                done += written
            }
        }
    }
}
