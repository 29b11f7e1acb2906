import Lifecycle
import Testing

/// Runs the tests of a suite on threads outside the cooperative pool, because they compute for seconds: all other tests of the
/// process would pause meanwhile, and time out.
struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(NewThreadExecutor()) { try await function() }
    }
}

extension Trait where Self == OwnThread {
    static var ownThread: OwnThread { OwnThread() }
}

/// Runs each part of a task between two suspensions on a new thread.
private final class NewThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        startThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
