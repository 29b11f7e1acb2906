/// What the queue counts of a group of jobs.
package struct GroupRecord: Sendable, Hashable {
    package let name: String
    /// Whether the producer said that all jobs are in.
    package let isSealed: Bool
    /// Jobs that ever joined, but those that were deleted before they ran.
    package let total: Int
    /// By state, also of jobs that are over and deleted; none are queued.
    package let counts: [JobState: Int]
    /// Seconds of audio in the results.
    package let audio: Double
    /// Milliseconds since 1970, like the other times.
    package let createdAt: Int64
    /// When the first job began.
    package let startedAt: Int64?
    /// When nothing was left, if the group is sealed.
    package let endedAt: Int64?
    /// When all this was read.
    package let readAt: Int64

    package subscript(state: JobState) -> Int { counts[state] ?? 0 }

    /// Jobs that are not over.
    package var left: Int { self[.waiting] + self[.delayed] + self[.running] }

    /// Jobs that ran to an end.
    package var ran: Int { self[.completed] + self[.failed] }

    /// Whether no more jobs can come, and none is left.
    package var isFinished: Bool { isSealed && left == 0 }

    /// A group from its hash; nothing if there is no such group.
    init?(name: String, hash: [String: String], readAt: Int64) {
        guard let total = hash["total"].flatMap({ Int($0) }) else { return nil }
        self.name = name
        self.total = total
        isSealed = hash["sealed"] != nil
        counts = Dictionary(
            uniqueKeysWithValues: JobState.allCases.map { ($0, hash[$0.rawValue].flatMap { Int($0) } ?? 0) })
        audio = (hash["audio_ms"].flatMap { Double($0) } ?? 0) / 1000
        createdAt = hash["created"].flatMap { Int64($0) } ?? 0
        startedAt = hash["started"].flatMap { Int64($0) }
        endedAt = hash["ended"].flatMap { Int64($0) }
        self.readAt = readAt
    }
}
