/// Reports finished attempts to Redis; attempts that end during a call are batched into the next one.
package actor FinishBatcher {
    private let queue: JobQueue
    private var waiting: [Call] = []
    private var isUnderWay = false

    private struct Call {
        let ending: Ending
        let caller: CheckedContinuation<Result<FinishAnswer, QueueError>, Never>
    }

    /// Collects the calls for one queue.
    package init(_ queue: JobQueue) { self.queue = queue }

    /// Reports one finished attempt, and waits for the reply.
    package func finish(_ ending: Ending) async throws(QueueError) -> FinishAnswer {
        try await withCheckedContinuation { caller in
            waiting.append(Call(ending: ending, caller: caller))
            guard !isUnderWay else { return }
            isUnderWay = true
            Task { await reportAll() }
        }.get()
    }

    private func reportAll() async {
        // Lets attempts that end at the same time join this batch.
        await Task.yield()
        while !waiting.isEmpty {
            let calls = waiting
            waiting = []
            await report(calls)
        }
        isUnderWay = false
    }

    private func report(_ calls: [Call]) async {
        do throws(QueueError) {
            let answers = try await queue.finish(calls.map(\.ending))
            for (call, answer) in zip(calls, answers) { call.caller.resume(returning: .success(answer)) }
        } catch {
            guard calls.count > 1, !error.isTransient else {
                for call in calls { call.caller.resume(returning: .failure(error)) }
                return
            }
            // An error of one job does not affect the others; a job that was already acknowledged gets the same answer
            // again.
            for call in calls { await report([call]) }
        }
    }
}
