import FoundationEssentials
import JobSchema
import Redis

extension JobQueue {
    /// How many jobs a worker claims at once: half of its slots, so that Redis ends some jobs while the worker receives others.
    package static func claimSize(slots: Int) -> Int { max(slots / 2, 8) }

    /// Claims up to `count` jobs for the worker (`host:pid:nonce`), which makes one request at a time. Repeated with
    /// the same request, returns the same jobs.
    package func claim(
        _ request: ClaimRequest = ClaimRequest(), count: Int, worker: String
    ) async throws(QueueError) -> Claim {
        var round = 0
        var lostLeases: [LostLease] = []
        while true {
            round += 1
            // Many pushes must not keep the worker from claiming the admitted jobs.
            let insists = round == Self.longestAdmission
            let urgency: RedisArgument = insists ? "insist" : round > 1 ? "again" : ""
            let answer = try await run(
                QueueScript.claim,
                [
                    .text(worker), .integer(Int64(request.counter)), .text(request.nonce), .integer(Int64(count)),
                    .text(settingsLine), urgency,
                ],
                over: claims)
            var parts = try answer.parts()
            let status = try parts.text()
            let nextDue = try Self.wait(&parts)
            let nextLease = try Self.wait(&parts)
            lostLeases += try LostLease.all(parts.next())
            if status == "again", !insists { continue }
            var (jobs, waits) = ([ClaimedJob](), [String: Duration]())
            while !parts.isEmpty {
                let (job, wait) = try ClaimedJob.unpack(&parts)
                jobs.append(job)
                if let wait { waits[job.id] = wait }
            }
            return Claim(
                jobs: jobs, nextDue: nextDue, nextLease: nextLease, isPaused: status == "paused",
                hasMore: status == "more" || status == "again", lostLeases: lostLeases,
                waits: waits)
        }
    }

    /// Admits pushed jobs, promotes due ones and reaps lost leases until there is no more to admit; returns the lost
    /// leases. The queue keeps the settings that its workers saved.
    @discardableResult
    package func runMaintenance() async throws(QueueError) -> [LostLease] {
        var leases: [LostLease] = []
        for _ in 1...Self.longestAdmission {
            var parts = try await run(QueueScript.admit, []).parts()
            let hasMore = try parts.isTrue()
            leases += try LostLease.all(parts.next())
            guard hasMore else { break }
        }
        return leases
    }

    /// Wakes one idle worker if there is something to claim; called by a worker that received a bell and cannot claim.
    package func ring() async throws(QueueError) {
        _ = try await run(QueueScript.ring, [])
    }

    /// The maximum number of consecutive calls that only admit jobs.
    private static var longestAdmission: Int { 64 }

    private static func wait(_ parts: inout ScriptParts) throws(QueueError) -> Int? {
        let milliseconds = try parts.integer()
        return milliseconds < 0 ? nil : milliseconds
    }
}

extension ClaimedJob {
    /// Decodes a job as `claim.lua` packs it, and how long it was ready.
    static func unpack(_ parts: inout ScriptParts) throws(QueueError) -> (ClaimedJob, wait: Duration?) {
        let (id, token) = (try parts.text(), try parts.text())
        let part = try parts.next()
        let counts = try part.text().split(separator: " ")
        let numbers = counts.prefix(3).compactMap { Int($0) }
        guard counts.count >= 5, numbers.count == 3 else { throw part.unexpected }
        let fields = SpecText.decode(try parts.bytes())
        let record = try parts.bytes()
        let commit = record.isEmpty ? nil : try? JSONDecoder().decode(CommitRecord.self, from: Data(record))
        let job = ClaimedJob(
            id: id, token: token, attempt: numbers[0], attempts: numbers[1], crashes: numbers[2], fields: fields,
            unusable: counts.dropFirst(5).map(String.init),
            createdAt: Int64(counts[3]) ?? JobRecord.moment(ofID: id), commit: commit,
            isCommitUnreadable: !record.isEmpty && commit == nil)
        return (job, Int64(counts[4]).map { .milliseconds($0) })
    }
}
