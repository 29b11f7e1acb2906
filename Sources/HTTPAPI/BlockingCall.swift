import Lifecycle

/// Runs what blocks on a separate thread, because it would stall the cooperative pool.
func withBlocking<Answer: Sendable>(
    _ body: @escaping @Sendable () throws(Problem) -> Answer
) async throws(Problem) -> Answer {
    let result: Result<Answer, Problem> = await withCheckedContinuation { done in
        let hasStarted = tryStartThread { done.resume(returning: Result(catching: body)) }
        if !hasStarted {
            done.resume(returning: .failure(Problem(503, "overloaded", "the system has no more threads")))
        }
    }
    return try result.get()
}
