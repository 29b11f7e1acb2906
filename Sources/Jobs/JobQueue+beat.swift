import JobSchema
import MediaTypes
import Redis

extension JobQueue {
    /// Renews the leases of the worker's jobs, stores their progress and the worker's record; idle workers send beats
    /// too. `order` is the latest one that the worker has from any of its queues.
    package func beat(
        worker: WorkerRecord, jobs: [Heartbeat], order: WorkerOrder = .none
    ) async throws(QueueError) -> BeatAnswer {
        var arguments: [RedisArgument] = [
            .text(settingsLine), .text(worker.name), .text(worker.host), .integer(Int64(worker.slots)),
            .text(worker.version), .text(worker.traits.map(\.rawValue).sorted().joined(separator: " ")),
            .integer(order.moment),
        ]
        for job in jobs {
            arguments += [
                .text(job.id), .text(job.token), .text(job.progress?.phase.rawValue ?? ""),
                .text(job.progress.map(ProgressText.encode) ?? ""),
            ]
        }
        var parts = try await run(QueueScript.beat, arguments).parts()
        let hasMore = try parts.isTrue()
        let hasCallbacks = try parts.isTrue()
        let isScheduleDue = try parts.isTrue()
        var lostLeases = try LostLease.all(parts.next())
        let readyPriority = JobSpec.Priority(rawValue: try parts.integer())
        let latest = WorkerOrder(moment: Int64(try parts.integer()))
        let isBroken = try parts.isTrue()
        var replies: [String: BeatReply] = [:]
        for job in jobs {
            let part = try parts.next()
            guard let reply = BeatReply(rawValue: try part.text()) else { throw part.unexpected }
            replies[job.id] = reply
        }
        if hasMore { lostLeases += try await runMaintenance() }
        return BeatAnswer(
            replies: replies, hasCallbacks: hasCallbacks, isScheduleDue: isScheduleDue, lostLeases: lostLeases,
            readyPriority: readyPriority, order: latest, isBroken: isBroken)
    }

    /// Removes the record of a worker that stops; it should have released its jobs. Its last claim is kept until it
    /// expires.
    package func removeWorker(_ worker: String) async throws(QueueError) {
        _ = try await send([
            ["ZREM", .text(keys.workers), .text(worker)],
            ["HDEL", .text(keys.worker(worker)), "host", "slots", "version", "traits", "jobs", "quiet", "order"],
        ])
    }

    /// Tells a worker (`host:pid:nonce`, or `host:pid`) to claim no more jobs, or to claim jobs again. It learns that with its
    /// next beat, and claims from none of its queues. Returns its full name; `nil` if the queue has no such worker.
    package func setQuiet(_ isQuiet: Bool, worker: String) async throws(QueueError) -> String? {
        // The record of an ended worker stays a minute, and a restarted container has the same host and pid.
        let found = try await workers().filter { $0.name == worker || $0.name.hasPrefix(worker + ":") }
        guard let name = found.min(by: { ($0.silence ?? .max) < ($1.silence ?? .max) })?.name else { return nil }
        let answer = try await run(QueueScript.quiet, [.text(name), isQuiet ? "1" : "0"]).integer()
        return answer == 1 ? name : nil
    }

    /// Every worker that sent a beat within the last minute, by name.
    package func workers() async throws(QueueError) -> [WorkerRecord] {
        let replies = try await send([
            ["TIME"], ["ZRANGE", .text(keys.workers), "0", "-1", "WITHSCORES"],
        ])
        let now = Self.milliseconds(replies[0])
        let beats = (replies[1].dictionary ?? [:]).sorted { $0.key < $1.key }
        let records = try await send(beats.map { ["HGETALL", .text(keys.worker($0.key))] })
        return zip(beats, records).compactMap { beat, record in
            guard let fields = record.dictionary, let host = fields["host"]?.string else { return nil }
            let jobs = fields["jobs"]?.string ?? ""
            let words = (fields["traits"]?.string ?? "").split(separator: " ")
            return WorkerRecord(
                name: beat.key, host: host, slots: Int(fields["slots"]?.integer ?? 0),
                version: fields["version"]?.string ?? "",
                traits: Set(words.compactMap { WorkerRecord.Trait(rawValue: String($0)) }),
                jobs: jobs.split(separator: " ").map(String.init),
                silence: max(0, now - Int64(beat.value.string.flatMap(Double.init) ?? 0)),
                isQuiet: fields["quiet"] != nil)
        }
    }
}
