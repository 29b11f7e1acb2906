package import JobSchema
import Lifecycle

/// One attempt of a job.
package struct AttemptRecord: Sendable, Hashable {
    /// Its number; that of an attempt that crashed or was released is used again.
    package let attempt: Int
    /// `host:pid` of the worker.
    package let worker: String
    /// Milliseconds since 1970, like the other time.
    package let startedAt: Int64
    /// `nil` while it runs.
    package var endedAt: Int64?
    /// `nil` while it runs.
    package var outcome: Outcome?
    /// Why it failed or crashed.
    package var code: ErrorCode?

    /// How it ended.
    package enum Outcome: String, Sendable, Encodable {
        case completed, failed, crashed, cancelled, released
    }

    /// The attempts that a job's hash has: the ended ones in `history`, and the one that runs or completed the job.
    static func all(_ state: JobState, _ hash: [String: String]) -> [AttemptRecord] {
        let ended = (hash["history"] ?? "").split(separator: "\n").compactMap { AttemptRecord(line: $0) }
        guard state == .running || state == .completed, let number = hash["attempt"].flatMap({ Int($0) }),
            let start = hash["started"].flatMap({ Int64($0) })
        else { return ended }
        var last = AttemptRecord(
            attempt: number, worker: WorkerRecord.shortName(hash["worker"] ?? ""), startedAt: start)
        if state == .completed { (last.endedAt, last.outcome) = (hash["finished"].flatMap { Int64($0) }, .completed) }
        return ended + [last]
    }

    private init(attempt: Int, worker: String, startedAt: Int64) {
        self.attempt = attempt
        self.worker = worker
        self.startedAt = startedAt
    }

    /// Parses `attempt started ended outcome code worker`; `nil` if the line has another form.
    private init?(line: Substring) {
        let words = line.split(separator: " ", maxSplits: 5).map(String.init)
        guard words.count == 6, let number = Int(words[0]), let start = Int64(words[1]), let end = Int64(words[2]),
            let outcome = Outcome(rawValue: words[3])
        else { return nil }
        self.init(attempt: number, worker: WorkerRecord.shortName(words[5]), startedAt: start)
        (endedAt, self.outcome, code) = (end, outcome, ErrorCode(rawValue: words[4]))
    }
}

extension AttemptRecord: Encodable {
    private enum CodingKeys: String, CodingKey {
        case attempt, worker, outcome, code
        case startedAt = "started_at"
        case endedAt = "ended_at"
    }

    /// Writes every key; values that do not apply are `null`.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(attempt, forKey: .attempt)
        try container.encode(worker, forKey: .worker)
        try container.encode(WallClock.timestamp(milliseconds: startedAt), forKey: .startedAt)
        try container.encode(endedAt.map { WallClock.timestamp(milliseconds: $0) }, forKey: .endedAt)
        try container.encode(outcome, forKey: .outcome)
        try container.encode(code, forKey: .code)
    }
}
