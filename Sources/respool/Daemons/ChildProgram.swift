import FoundationEssentials
import Glibc
import Lifecycle
import Synchronization

/// A program started by this one in a separate process group. It receives a signal when this process ends.
final class ChildProgram: Sendable {
    let pid: pid_t
    private let reaping = Mutex<ProgramEnding?>(nil)

    private init(pid: pid_t) { self.pid = pid }

    /// Starts the program named by the first word, which is searched in `PATH` unless it is a path. Its standard output and
    /// standard error are appended to a file. It inherits the descriptor as number 3.
    ///
    /// setpriv(1) sets the parent death signal and then executes the program, so the process id is the program's.
    static func start(
        _ words: [String], environment: [String: String] = [:], deathSignal: String, output: String,
        inheriting descriptor: CInt? = nil
    ) async throws(CommandFailure) -> ChildProgram {
        let opened = open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw .failed("cannot write to '\(output)': \(Errno.last)") }
        let file = Descriptor(owning: opened)
        let program = Spawner.Program(
            path: "setpriv", arguments: ["--pdeathsig", deathSignal, "--"] + words,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
        do {
            return ChildProgram(
                pid: try await Spawner.shared.spawn(
                    program, descriptors: [-1, file.number, file.number] + (descriptor.map { [$0] } ?? [])))
        } catch { throw .failed("cannot start '\(words[0])': \(error)") }
    }

    /// How the program ended, after which it is reaped; `nil` while it runs.
    var ending: ProgramEnding? { reaped(WNOHANG) }

    /// Whether the program is running.
    var isRunning: Bool { ending == nil }

    /// Waits until the program has ended.
    func wait() async -> ProgramEnding {
        await withCheckedContinuation { continuation in
            startThread {
                var information = siginfo_t()
                // It is reaped under the lock, so that no signal is sent to a process id that was reused.
                while waitid(P_PID, id_t(self.pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
                continuation.resume(returning: self.reaped(0) ?? ProgramEnding(status: 0))
            }
        }
    }

    /// Sends the signal if the program is still running.
    func kill(_ signal: CInt) {
        // Under the lock, the program is not reaped yet. Afterwards, the process id may be reused.
        reaping.withLock { if $0 == nil { _ = Glibc.kill(pid, signal) } }
    }

    private func reaped(_ options: CInt) -> ProgramEnding? {
        reaping.withLock { ending in
            var status: CInt = 0
            if ending == nil, waitpid(pid, &status, options) != 0 { ending = ProgramEnding(status: status) }
            return ending
        }
    }
}
