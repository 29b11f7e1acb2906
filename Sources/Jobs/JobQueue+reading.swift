import Lifecycle
import Redis

extension JobQueue {
    /// Reads the statistics of the queue.
    package func stats() async throws(QueueError) -> QueueStats {
        var parts = try await run(QueueScript.stats, []).parts()
        var counts: [JobState: Int] = [:]
        for state in JobState.allCases { counts[state] = try parts.integer() }
        let isPaused = try parts.isTrue()
        let oldest = try parts.integer()
        let (minute, hour, day) = try (JobCounts(parts.next()), JobCounts(parts.next()), JobCounts(parts.next()))
        let alive = try await workers().filter { ($0.silence ?? 0) <= settings.lease.milliseconds }
        return QueueStats(
            counts: counts, isPaused: isPaused, oldestWaiting: oldest < 0 ? nil : Int64(oldest),
            lastMinute: minute, lastHour: hour, lastDay: day,
            workers: alive.count, slots: alive.reduce(0) { $0 + $1.slots })
    }

    /// The record of each id; `nil` for an id that no job has. The id of a duplicate returns the first job.
    package func jobs(_ ids: [String]) async throws(QueueError) -> [JobRecord?] {
        try await rawJobs(ids).map { $0.map { JobRecord($0) } }
    }

    /// The ids of the jobs that hold dedup keys; one may be gone.
    package func holders(ofDedup keys: [String]) async throws(QueueError) -> [String] {
        try await send(keys.map { ["GET", .text(self.keys.dedup($0))] }).compactMap(\.string)
    }

    /// The fields that a job was pushed with, secrets included; `nil` if there is no such job.
    package func fields(_ id: String) async throws(QueueError) -> [String: String]? {
        try await rawJobs([id])[0]?.fields
    }

    /// The latest log lines of a job's attempts.
    package func log(_ id: String) async throws(QueueError) -> [String] {
        let first = try await send([["GET", .text(keys.alias(id))]])[0].string ?? id
        let text = try await send([["GET", .text(keys.log(first))]])[0].string ?? ""
        return text.isEmpty ? [] : text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    func rawJobs(_ ids: [String]) async throws(QueueError) -> [RawJob?] {
        var jobs: [RawJob?] = []
        for start in stride(from: 0, to: ids.count, by: 100) {
            jobs += try await rawChunk(Array(ids[start..<min(start + 100, ids.count)]))
        }
        return jobs
    }

    private func rawChunk(_ ids: [String]) async throws(QueueError) -> [RawJob?] {
        var jobs = try await admitted(ids)
        let missing = jobs.indices.filter { jobs[$0] == nil }
        guard !missing.isEmpty else { return jobs }
        let aliases = try await send(missing.map { ["GET", .text(keys.alias(ids[$0]))] })
        var pushed: [Int] = []
        for (index, alias) in zip(missing, aliases) {
            if let first = alias.string {
                jobs[index] = try await admitted([first])[0]
            } else if ids[index].isStreamID {
                pushed.append(index)
            }
        }
        for (index, entry) in zip(pushed, try await inboxEntries(pushed.map { ids[$0] })) {
            jobs[index] = entry.flatMap { RawJob($0) }
        }
        // A job may have been admitted while its entry was searched for.
        let absent = pushed.filter { jobs[$0] == nil }
        for (index, job) in zip(absent, try await admitted(absent.map { ids[$0] })) { jobs[index] = job }
        return jobs
    }

    private func admitted(_ ids: [String]) async throws(QueueError) -> [RawJob?] {
        let replies = try await send(
            ids.flatMap { id -> [RedisCommand] in
                [
                    ["HGETALL", .text(keys.job(id))], ["GET", .text(keys.spec(id))], ["GET", .text(keys.result(id))],
                ]
            })
        return ids.indices.map { RawJob(id: ids[$0], replies[3 * $0], replies[3 * $0 + 1], replies[3 * $0 + 2]) }
    }
}

extension String {
    /// Whether a text is `<ms>-<n>`, each within 64 bits.
    var isStreamID: Bool {
        let parts = split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { UInt64($0) != nil && $0.allSatisfy(\.isNumber) }
    }
}
