import FoundationEssentials
import Glibc
import Lifecycle
import Synchronization

/// A program started by this one in a separate process group. It receives a signal when this process ends.
final class ChildProgram: Sendable {
    private let pid: pid_t
    private let hasEnded = Mutex(false)

    private init(pid: pid_t) { self.pid = pid }

    /// Starts the program named by the first word, which is searched in `PATH` unless it is a path. Its standard output and
    /// standard error go to a file.
    ///
    /// setpriv(1) sets the parent death signal and then executes the program, so the process id is the program's.
    static func start(
        _ words: [String], deathSignal: String, output: String
    ) async throws(CommandFailure) -> ChildProgram {
        let opened = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw .failed("cannot write to '\(output)': \(Errno.last)") }
        let file = Descriptor(owning: opened)
        let program = Spawner.Program(
            path: "setpriv", arguments: ["--pdeathsig", deathSignal, "--"] + words,
            environment: ProcessInfo.processInfo.environment)
        do {
            return ChildProgram(
                pid: try await Spawner.shared.spawn(program, descriptors: [-1, file.number, file.number]))
        } catch { throw .failed("cannot start '\(words[0])': \(error)") }
    }

    /// Whether the program is running. A program that has ended is reaped.
    var isRunning: Bool {
        hasEnded.withLock { hasEnded in
            if !hasEnded, waitpid(pid, nil, WNOHANG) != 0 { hasEnded = true }
            return !hasEnded
        }
    }

    /// Sends the signal if the program is still running.
    func kill(_ signal: CInt) {
        // Under the lock, the program is not reaped yet. Afterwards, the process id may be reused.
        hasEnded.withLock { if !$0 { _ = Glibc.kill(pid, signal) } }
    }
}
