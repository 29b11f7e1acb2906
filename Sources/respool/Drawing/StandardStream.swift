import Glibc
import Text

/// Writes complete texts to a standard stream of the process.
enum StandardStream {
    /// Writes to standard output. If its reader is gone, the process exits silently, as SIGPIPE would end it.
    static func output(_ text: String) { write(text, to: STDOUT_FILENO) }

    /// Writes messages to standard error, one per line.
    static func error(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        write(lines.map { PrintableText.escaped(String($0)) }.joined(separator: "\n"), to: STDERR_FILENO)
    }

    /// Whether the reader of standard output has closed the pipe.
    static var isOutputGone: Bool {
        var entry = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLERR) != 0
    }

    static func write(_ text: String, to descriptor: CInt) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                if written < 0, errno == EPIPE, descriptor == STDOUT_FILENO { exit(128 + SIGPIPE) }
                guard written > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
        }
    }
}
