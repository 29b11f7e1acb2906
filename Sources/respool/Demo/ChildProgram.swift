import FoundationEssentials
import Glibc
import Lifecycle
import Synchronization

/// A program started by this one, in a process group of its own, which dies with it.
final class ChildProgram: Sendable {
    private let pid: pid_t
    private let hasEnded = Mutex(false)

    private init(pid: pid_t) { self.pid = pid }

    /// Starts the program that the first word names, through `PATH` unless it is a path; both its streams go to a file.
    ///
    /// setpriv(1) asks for the death signal and then becomes the program, so the process id is the program's.
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

    /// Whether the program runs; once it has ended, nothing of it is left.
    var isRunning: Bool {
        hasEnded.withLock { hasEnded in
            if !hasEnded, waitpid(pid, nil, WNOHANG) != 0 { hasEnded = true }
            return !hasEnded
        }
    }

    /// Sends the signal, if the program still runs.
    func kill(_ signal: CInt) {
        // Under the lock, and before it is reaped: later the number may be another process's.
        hasEnded.withLock { if !$0 { _ = Glibc.kill(pid, signal) } }
    }
}
