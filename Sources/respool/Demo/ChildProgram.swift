import Glibc
import Lifecycle
import Synchronization

/// A program started by this one, in a process group of its own, which dies with the thread that started it.
final class ChildProgram: Sendable {
    private let pid: pid_t
    private let hasEnded = Mutex(false)

    /// Starts the program that the first word names, through `PATH` unless it is a path; both its streams go to a file.
    ///
    /// setpriv(1) asks for the death signal and then becomes the program, so the process id is the program's.
    init(_ words: [String], deathSignal: String, output: String) throws(CommandFailure) {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        // Ctrl-C at the terminal reaches this process alone, which then ends its children in order.
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, CShort(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

        let arguments = (["setpriv", "--pdeathsig", deathSignal, "--"] + words).map { strdup($0) } + [nil]
        defer { for pointer in arguments { free(pointer) } }
        var pid: pid_t = 0
        let error = posix_spawnp(&pid, "setpriv", &actions, &attributes, arguments, environ)
        guard error == 0 else { throw .failed("cannot start '\(words[0])': \(Errno(rawValue: error))") }
        self.pid = pid
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
