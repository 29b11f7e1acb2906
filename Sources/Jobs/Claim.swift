package import JobSchema

/// What a worker gets when it asks for jobs.
package struct Claim: Sendable {
    package let jobs: [ClaimedJob]
    /// Milliseconds until the next delayed job is due; nothing if there is none, or if all asked for was given.
    package let nextDue: Int?
    /// Milliseconds until the next lease ends; nothing if there is none, or if all asked for was given.
    package let nextLease: Int?
    package let isPaused: Bool
    /// Whether there may be more, although fewer than asked for were given.
    package let hasMore: Bool
    /// Leases that the claim found expired.
    package let lostLeases: [LostLease]
}

/// A job that is the worker's until its lease ends.
package struct ClaimedJob: Sendable, Hashable {
    package let id: String
    /// `epoch:nonce`; every call about the job shows it.
    package let token: String
    /// Which try this is, from 1.
    package let attempt: Int
    package let attempts: Int
    package let crashes: Int
    /// The job as it was pushed; not yet checked.
    package let fields: [String: String]
    /// Milliseconds since 1970.
    package let createdAt: Int64
    /// What a former owner was about to publish.
    package let commit: CommitRecord?

    /// Whether nobody had it before; by its token, for a retry begins to count its attempts anew.
    package var isNew: Bool { token.hasPrefix("1:") }
}
