/// The counts of a group of jobs.
package struct GroupRecord: Sendable, Hashable {
    /// The job field `group`.
    package let name: String
    /// Whether the group was sealed: no more jobs can join.
    package let isSealed: Bool
    /// All jobs that ever joined, except those that were deleted before they ran.
    package let total: Int
    /// Counts by state, including terminal jobs that were deleted; no job of a group is `queued`.
    package let counts: [JobState: Int]
    /// Seconds of audio in the results.
    package let audio: Double
    /// Milliseconds since 1970, like the other times.
    package let createdAt: Int64
    /// When the first job started.
    package let startedAt: Int64?
    /// When the last job ended, if the group is sealed.
    package let endedAt: Int64?
    /// When the record was read.
    package let readAt: Int64

    /// The number of jobs in a state.
    package subscript(state: JobState) -> Int { counts[state] ?? 0 }

    /// Jobs that have not ended.
    package var left: Int { self[.waiting] + self[.delayed] + self[.running] }

    /// Jobs that completed or failed.
    package var ran: Int { self[.completed] + self[.failed] }

    /// Whether the group is sealed and no job is left.
    package var isFinished: Bool { isSealed && left == 0 }

    /// Creates a record from a group's hash; `nil` if there is no such group.
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
