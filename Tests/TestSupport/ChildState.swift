import Glibc
import Lifecycle
import Synchronization

/// The state of a child, collected by three threads: one for each output stream, and one that waits for its end.
final class ChildState: Sendable {
    private struct Contents {
        var streams: [[UInt8]] = [[], []]
        var openStreams = 2
        var isOwned = true
        var isKilled = false
        var termination: Outcome.Termination?
        var waiters: [CheckedContinuation<Outcome, Never>] = []

        var outcome: Outcome? {
            guard let termination, openStreams == 0 else { return nil }
            return Outcome(termination: termination, standardOutput: streams[0], standardError: streams[1])
        }
    }

    private let pid: pid_t
    private let command: String
    private let contents = Mutex(Contents())

    init(pid: pid_t, command: String) {
        self.pid = pid
        self.command = command
    }

    func collect(output: CInt, errors: CInt) {
        startThread { self.awaitEnd() }
        startThread { self.read(output, into: 0) }
        startThread { self.read(errors, into: 1) }
    }

    var isRunning: Bool { contents.withLock { $0.termination == nil } }

    var text: (output: String, errors: String) {
        contents.withLock { contents in
            (String(decoding: contents.streams[0], as: UTF8.self), String(decoding: contents.streams[1], as: UTF8.self))
        }
    }

    func kill(_ signal: CInt) {
        contents.withLock { contents in
            // Under the lock, the child is not reaped yet. Afterwards, the process id may be reused.
            guard contents.termination == nil else { return }
            _ = Glibc.kill(pid, signal)
            if signal == SIGKILL { contents.isKilled = true }
        }
    }

    /// Whether the test still uses the child.
    var isOwned: Bool { contents.withLock { $0.isOwned } }

    /// Kills the child and keeps only what a report needs.
    func release() {
        kill(SIGKILL)
        contents.withLock { contents in
            contents.isOwned = false
            for index in 0...1 { contents.streams[index] = contents.streams[index].suffix(Self.tail) }
        }
    }

    /// The command, how it ended, and its last lines.
    var report: [String] {
        let (streams, termination, isKilled) = contents.withLock { ($0.streams, $0.termination, $0.isKilled) }
        let end = isKilled ? "killed by the test" : termination.map { "\($0)" } ?? "running"
        return ["--- \(pid) \(command): \(end)"]
            + streams.flatMap { stream -> [String] in
                let tail = stream.suffix(Self.tail)
                guard !tail.contains(0) else { return ["(\(stream.count) bytes that are no text)"] }
                return String(decoding: tail, as: UTF8.self).split(whereSeparator: \.isNewline).suffix(30).map(
                    String.init)
            }
    }

    private static let tail = 16 * 1024

    func wait() async -> Outcome {
        await withCheckedContinuation { continuation in
            let outcome = contents.withLock { contents in
                if contents.outcome == nil { contents.waiters.append(continuation) }
                return contents.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    private func awaitEnd() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        update { contents in
            var status: CInt = 0
            waitpid(pid, &status, 0)
            let signal = status & 0x7f
            contents.termination = signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
        }
    }

    private func read(_ descriptor: CInt, into index: Int) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 1)
        defer {
            buffer.deallocate()
            close(descriptor)
            update { $0.openStreams -= 1 }
        }
        while true {
            var entry = pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0)
            // A grandchild may keep the pipe open after the child has ended; its output is not waited for. The state is read
            // before `poll`, because a child that writes and ends directly after `poll` would otherwise lose its last output.
            let hasEnded = !isRunning
            if poll(&entry, 1, 250) == 0 {
                if hasEnded { return }
                continue
            }
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else { return }
            contents.withLock { $0.streams[index].append(contentsOf: buffer[..<count]) }
        }
    }

    private func update(_ change: (inout Contents) -> Void) {
        let (waiters, outcome) = contents.withLock { contents in
            change(&contents)
            guard let outcome = contents.outcome else {
                return ([CheckedContinuation<Outcome, Never>](), Outcome?.none)
            }
            defer { contents.waiters = [] }
            return (contents.waiters, outcome)
        }
        for waiter in waiters { waiter.resume(returning: outcome!) }
    }
}
