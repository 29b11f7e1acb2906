import Glibc
import Lifecycle
import Text

/// Reads a child's standard error from a pipe, and logs it line by line.
///
/// The lines are rate-limited: lines over the limit are counted, and the last of them are logged when the child has
/// ended.
struct StandardErrorLog: ~Copyable {
    private var pipe: Descriptor?
    private let write: (String) -> Void
    private var line: [UInt8] = []
    private var isLineCut = false
    private var budget = TokenBucket(capacity: 64 << 10, perSecond: 1 << 10)
    private var readBudget = TokenBucket(capacity: 1 << 20, perSecond: 1 << 20)
    private var pausedUntil: ContinuousClock.Instant?
    private var withheld = 0
    private var tail: [String] = []

    private static let maxLineBytes = 2048
    private static let maxTailLines = 20

    init(_ pipe: consuming Descriptor, write: @escaping (String) -> Void) {
        self.pipe = consume pipe
        self.write = write
    }

    /// Whether the pipe may still have a writer.
    var isOpen: Bool {
        switch pipe {
        case .some: true
        case nil: false
        }
    }

    /// The descriptor to poll (-1 to read nothing) and the timeout in milliseconds.
    func pollEntry(now: ContinuousClock.Instant = .now) -> (descriptor: CInt, milliseconds: CInt) {
        switch pipe {
        case .some(let open):
            guard let pausedUntil, pausedUntil > now else { return (open.number, -1) }
            return (-1, CInt((pausedUntil - now) / .milliseconds(1)) + 1)
        case nil: return (-1, -1)
        }
    }

    /// Reads available data; call this only if there is some.
    mutating func read() {
        let count = withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer in
            let count = Self.read(pipe, buffer)
            if count > 0 { take(buffer[..<count]) }
            return count
        }
        if count == 0 { pipe = nil }
        // A child that writes faster has to wait, because reading a pipe as fast as possible would occupy a processor.
        if count > 0, !readBudget.take(count) { pausedUntil = .now + .milliseconds(200) }
    }

    /// Reads the rest of the output of a child that has ended, and closes the pipe.
    mutating func finish() {
        // A pipe holds at most 1 MiB, unless another process still writes.
        for _ in 0..<32 {
            guard isOpen, Self.isReadable(pipe) else { break }
            read()
        }
        pipe = nil
        if !line.isEmpty { endLine() }
        guard withheld > 0 else { return }
        write("… \(withheld - tail.count) lines are left out")
        for line in tail { write(line) }
    }

    private mutating func take(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            if byte == 0x0a {
                endLine()
            } else if line.count < Self.maxLineBytes {
                line.append(byte)
            } else {
                isLineCut = true
            }
        }
    }

    private mutating func endLine() {
        let text = String(decoding: line, as: UTF8.self).bounded(utf8Bytes: Self.maxLineBytes) + (isLineCut ? "…" : "")
        line.removeAll(keepingCapacity: true)
        isLineCut = false
        guard !budget.take(text.utf8.count + 100) else {
            if withheld > 0 { write("… \(withheld) lines are left out") }
            (withheld, tail) = (0, [])
            return write(text)
        }
        withheld += 1
        if tail.count == Self.maxTailLines { tail.removeFirst() }
        tail.append(text)
    }

    private static func read(_ pipe: borrowing Descriptor?, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        switch pipe {
        case .some(let open):
            while true {
                let count = Glibc.read(open.number, buffer.baseAddress, buffer.count)
                guard count < 0, errno == EINTR else { return max(0, count) }
            }
        case nil: return 0
        }
    }

    private static func isReadable(_ pipe: borrowing Descriptor?) -> Bool {
        switch pipe {
        case .some(let open):
            var entry = pollfd(fd: open.number, events: Int16(POLLIN), revents: 0)
            return poll(&entry, 1, 0) > 0
        case nil: return false
        }
    }
}
