import Glibc
import Lifecycle
import Synchronization
import Testing

@Suite struct ThreadTests {
    @Test func `an actor that blocks does not hold up other tasks`() async {
        let actors = (0..<8).map { _ in Sleeper() }
        let calls = actors.map { actor in Task { await actor.block() } }
        // With all of them blocked on a pool of a thread per core, no task would come this far.
        while !actors.allSatisfy(\.isBlocking) { await Task.yield() }
        for actor in actors { actor.release() }
        for call in calls { await call.value }
    }

    @Test func `threads start with every signal blocked`() async {
        let isBlocked = await withCheckedContinuation { continuation in
            startThread { @Sendable in
                var mask = sigset_t()
                pthread_sigmask(SIG_SETMASK, nil, &mask)
                continuation.resume(returning: sigismember(&mask, SIGTERM) == 1)
            }
        }
        #expect(isBlocked)
    }

    @Test func `other threads see a raised flag`() async {
        let flag = CancellationFlag()
        #expect(!flag.isRaised)
        await withCheckedContinuation { continuation in
            startThread { @Sendable in
                flag.raise()
                continuation.resume()
            }
        }
        #expect(flag.isRaised)
    }
}

private actor Sleeper {
    private let executor = ThreadExecutor(label: "sleeper")
    private let blocking = CancellationFlag()
    private let released = CancellationFlag()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    nonisolated var isBlocking: Bool { blocking.isRaised }

    func block() {
        blocking.raise()
        while !released.isRaised { usleep(1000) }
    }

    nonisolated func release() { released.raise() }
}
