package import JobSchema

/// The result of a worker's request for jobs.
package struct Claim: Sendable {
    /// The claimed jobs, in the order of priority.
    package let jobs: [ClaimedJob]
    /// Milliseconds until the next delayed job is due; `nil` if there is none, or if all requested jobs were returned.
    package let nextDue: Int?
    /// Milliseconds until the next lease expires; `nil` if there is none, or if all requested jobs were returned.
    package let nextLease: Int?
    /// Whether the queue is paused; then no job was claimed.
    package let isPaused: Bool
    /// Whether there may be more, although fewer jobs than requested were returned.
    package let hasMore: Bool
    /// Leases that the claim found expired.
    package let lostLeases: [LostLease]
    /// How long jobs were ready before they were claimed, by id; repeated replies have none.
    package let waits: [String: Duration]
}

/// A job that the worker owns until its lease expires.
package struct ClaimedJob: Sendable, Hashable {
    /// The job's id.
    package let id: String
    /// `epoch:nonce`; every call about the job sends this token.
    package let token: String
    /// The number of the attempt, from 1.
    package let attempt: Int
    /// The number of attempts after which the job fails.
    package let attempts: Int
    /// The number of lost leases and crashed child processes so far.
    package let crashes: Int
    /// The job as it was pushed; not checked yet.
    package let fields: [String: String]
    /// The fields whose options the queue could not use; a check of the fields refuses them.
    package var unusable: [String] = []
    /// Milliseconds since 1970.
    package let createdAt: Int64
    /// The commit record of an earlier owner that was about to publish.
    package let commit: CommitRecord?
    /// Whether there is such a record that cannot be decoded, for example of another version.
    package internal(set) var isCommitUnreadable = false

    /// Whether no worker had the job before. Decided by the token, because a retry resets the attempts.
    package var isNew: Bool { token.hasPrefix("1:") }
}
