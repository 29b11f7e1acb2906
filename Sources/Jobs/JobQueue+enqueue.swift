package import JobSchema
import Redis

extension JobQueue {
    /// Pushes one job through the inbox, as other producers do, and returns its id. This is the cheapest way, but a
    /// call that is repeated after a lost reply pushes the job twice.
    package func push(_ fields: [String: String]) async throws(QueueError) -> String {
        _ = try Self.checked(fields, 0)
        var command: RedisCommand = ["XADD", .text(keys.inbox), "*"]
        for (name, value) in fields {
            command.append(name)
            command.append(value)
        }
        return try await ScriptAnswer(script: "XADD", value: send([command])[0]).text()
    }

    /// Pushes jobs, or none if one is invalid. Repeated with the same nonce (at least 8 characters), returns the same
    /// ids.
    package func enqueue(
        _ specs: [[String: String]], nonce: String = Nonce.random()
    ) async throws(QueueError) -> [Enqueued] {
        var jobs: [JobSpec] = []
        for (index, fields) in specs.enumerated() { jobs.append(try Self.checked(fields, index)) }
        return try await enqueue(jobs, nonce: nonce)
    }

    /// Pushes checked jobs.
    package func enqueue(_ jobs: [JobSpec], nonce: String) async throws(QueueError) -> [Enqueued] {
        try await enqueue(EnqueueBatches(jobs, nonce: nonce))
    }

    /// Pushes jobs that are already encoded, so that a caller can encode the next ones during the call.
    ///
    /// Jobs that do not fit into one script call take several. A failure between them leaves the first ones pushed, and so
    /// does a group that is sealed in between.
    package func enqueue(_ jobs: EnqueueBatches) async throws(QueueError) -> [Enqueued] {
        var answers: [Enqueued] = []
        let batches = jobs.batches
        if batches.count > 1 { try await checkGroups(jobs) }
        let replies = try await runDurably(QueueScript.enqueue, each: batches.map(\.arguments)) {
            !EnqueueBatch.isRefusal($0)
        }
        for (batch, answer) in zip(batches, replies) { answers += try batch.enqueued(answer) }
        return answers
    }

    /// Refuses jobs of sealed groups before the first of several script calls; jobs that were pushed before are not refused.
    private func checkGroups(_ jobs: EnqueueBatches) async throws(QueueError) {
        let names = jobs.groups.keys.sorted()
        let replies = try await send(
            [["EXISTS", .text(keys.replay("\(jobs.nonce):0"))]]
                + names.map { ["HEXISTS", .text(keys.group($0)), "sealed"] })
        guard replies[0].integer == 0 else { return }
        let sealed = zip(names, replies.dropFirst()).compactMap { $1.integer == 1 ? $0 : nil }
        let first = sealed.min { jobs.groups[$0]!.first < jobs.groups[$1]!.first }
        guard let first, let index = jobs.groups[first]?.first else { return }
        let refused = sealed.reduce(0) { $0 + jobs.groups[$1]!.count }
        let others = refused == 1 ? "" : " (rejects \(refused) of the jobs)"
        throw .invalidJob(
            index: index,
            Failure(
                .invalidRequest, "the group `\(first)` is sealed, and no job can join it: give another" + others))
    }

    private static func checked(_ fields: [String: String], _ index: Int) throws(QueueError) -> JobSpec {
        do throws(Failure) {
            return try JobSpec(fields: fields)
        } catch {
            throw .invalidJob(index: index, error)
        }
    }
}
