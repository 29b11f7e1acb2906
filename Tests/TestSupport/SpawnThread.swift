import Dispatch
import Glibc
import Lifecycle
import Synchronization

/// The one thread that starts the children of the tests.
///
/// It lives as long as the process, because the death signal that each child asks for follows the thread that spawned it.
final class SpawnThread: Sendable {
    static let shared = SpawnThread()

    private let pending = Mutex<[@Sendable () -> Void]>([])
    private let ready = DispatchSemaphore(value: 0)

    private init() {
        let body: @Sendable () -> Void = { [self] in
            while true {
                ready.wait()
                pending.withLock { $0.removeFirst() }()
            }
        }
        startThread(body)
    }

    /// Starts the program, found through `PATH`, with the three descriptors as 0, 1 and 2.
    func spawn(_ arguments: [String], environment: [String: String], standard: [CInt]) async throws(Errno) -> pid_t {
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<pid_t, Errno>, Never>) in
            pending.withLock { queue in
                queue.append {
                    continuation.resume(returning: Self.start(arguments, environment.map { "\($0)=\($1)" }, standard))
                }
            }
            ready.signal()
        }
        return try result.get()
    }

    private static func start(_ arguments: [String], _ environment: [String], _ standard: [CInt]) -> Result<
        pid_t, Errno
    > {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (number, descriptor) in standard.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, CInt(number))
        }
        // This thread blocks all signals, and a child would inherit that; so it would what a test process ignores.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, CShort(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var argv = arguments.map { strdup($0) } + [nil]
        var envp = environment.map { strdup($0) } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var pid: pid_t = 0
        let error = posix_spawnp(&pid, arguments[0], &actions, &attributes, &argv, &envp)
        return error == 0 ? .success(pid) : .failure(Errno(rawValue: error))
    }
}
