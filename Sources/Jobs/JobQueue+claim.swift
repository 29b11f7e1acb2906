import FoundationEssentials
import Redis
import SlotProtocol

extension JobQueue {
    /// Takes up to `count` jobs for the worker (`host:pid:nonce`), which makes one request after the other; repeated with the same
    /// request, answers the same jobs.
    package func claim(
        _ request: ClaimRequest = ClaimRequest(), count: Int, worker: String
    ) async throws(QueueError) -> Claim {
        var round = 0
        var lostLeases: [LostLease] = []
        while true {
            round += 1
            // A flood of pushes must not keep the worker from the jobs that are there.
            let insists = round == Self.longestAdmission
            let answer = try await run(
                QueueScript.claim,
                [
                    .text(worker), .integer(Int64(request.counter)), .text(request.nonce), .integer(Int64(count)),
                    .text(settings.line), insists ? "1" : "0",
                ],
                over: claims)
            let parts = try answer.array()
            guard parts.count >= 4 else { throw .unexpectedAnswer(script: "claim", "too few parts") }
            let status = try parts[0].text()
            lostLeases += try LostLease.all(parts[3])
            if status == "again", !insists { continue }
            var jobs: [ClaimedJob] = []
            for first in stride(from: 4, to: parts.count, by: Self.claimedWords) {
                guard first + Self.claimedWords <= parts.count else { throw answer.unexpected }
                jobs.append(try Self.claimed(parts[first..<first + Self.claimedWords]))
            }
            return Claim(
                jobs: jobs, nextDue: try Self.wait(parts[1]), nextLease: try Self.wait(parts[2]),
                isPaused: status == "paused", hasMore: status == "more" || status == "again", lostLeases: lostLeases)
        }
    }

    /// Admits pushed jobs, promotes due ones and reaps lost leases, until nothing is left to admit; answers those leases.
    @discardableResult
    package func keepHouse() async throws(QueueError) -> [LostLease] {
        var leases: [LostLease] = []
        for _ in 1...Self.longestAdmission {
            let parts = try await run(QueueScript.admit, [.text(settings.line)]).array(count: 2)
            leases += try LostLease.all(parts[1])
            guard try parts[0].integer() == 1 else { break }
        }
        return leases
    }

    /// Wakes one idle worker if there is something to claim: for a worker that took a bell and cannot claim.
    package func ring() async throws(QueueError) {
        _ = try await run(QueueScript.ring, [])
    }

    /// Scripts in a row that may only admit.
    private static var longestAdmission: Int { 64 }

    private static func wait(_ part: ScriptAnswer) throws(QueueError) -> Int? {
        let milliseconds = try part.integer()
        return milliseconds < 0 ? nil : milliseconds
    }

    /// What the script answers of each job.
    private static var claimedWords: Int { 8 }

    private static func claimed(_ words: ArraySlice<ScriptAnswer>) throws(QueueError) -> ClaimedJob {
        let fields = Array(words)
        let id = try fields[0].text()
        let record = try fields[7].bytes()
        return ClaimedJob(
            id: id, token: try fields[1].text(), attempt: try fields[2].integer(), attempts: try fields[3].integer(),
            crashes: try fields[4].integer(), fields: SpecText.decode(try fields[6].bytes()),
            createdAt: Int64(try fields[5].text()) ?? JobRecord.moment(ofID: id),
            commit: record.isEmpty ? nil : try? JSONDecoder().decode(CommitRecord.self, from: Data(record)))
    }
}
