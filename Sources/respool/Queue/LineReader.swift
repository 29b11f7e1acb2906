import Glibc
import Lifecycle

/// Reads the lines of a file or pipe one at a time.
struct LineReader: ~Copyable {
    private let file: Descriptor
    /// The name for messages.
    let name: String
    /// Length of the file in bytes; `nil` for a pipe.
    let size: Int64?
    /// Bytes of the lines returned so far.
    private(set) var position: Int64 = 0
    /// The number of the last line returned, from 1.
    private(set) var number = 0
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    private static let longest = 4 << 20

    /// Opens the file, or standard input for `-`.
    init(path: String) throws(CommandFailure) {
        name = path == "-" ? "standard input" : path
        let number = path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw .usage("cannot read '\(path)': \(Errno.last)") }
        file = Descriptor(owning: number)
        var status = stat()
        let isFile = fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        size = isFile ? Int64(status.st_size) : nil
    }

    /// The next line without its line ending; `nil` after the last one.
    mutating func next() throws(CommandFailure) -> ArraySlice<UInt8>? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) { return line(to: end, next: end + 1) }
            searched = buffer.count
            if isAtEnd { return start < buffer.count ? line(to: buffer.count, next: buffer.count) : nil }
            guard buffer.count - start <= Self.longest else {
                throw .usage("\(name), line \(number + 1): the line is longer than \(Self.longest) bytes")
            }
            searched -= start
            try fill()
        }
    }

    private mutating func line(to end: Int, next: Int) -> ArraySlice<UInt8> {
        defer { start = next }
        number += 1
        position += Int64(next - start)
        let line = buffer[start..<end]
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }

    private mutating func fill() throws(CommandFailure) {
        buffer.removeFirst(start)
        start = 0
        let length = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: 64 << 10))
        var count: Int
        repeat {
            count = buffer.withUnsafeMutableBytes { read(file.number, $0.baseAddress! + length, 64 << 10) }
        } while count < 0 && errno == EINTR
        let error = Errno.last
        buffer.removeLast((64 << 10) - max(0, count))
        guard count >= 0 else { throw .usage("cannot read \(name): \(error)") }
        isAtEnd = count == 0
    }
}
