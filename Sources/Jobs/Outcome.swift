package import JobSchema

/// How one attempt of a job ended.
package enum Outcome: Sendable, Hashable {
    case completed([OutputReport])
    /// The job is delayed until its next attempt if the failure is retryable and attempts are left; otherwise it has
    /// failed.
    ///
    /// If only some of several outputs failed, `outputs` has the reports of all.
    case failed(Failure, outputs: [OutputReport] = [])
    /// A process of the slot died: a crash is counted instead of the attempt.
    case crashed(Failure)
    case cancelled
    /// Released by a worker that drains; neither an attempt nor a crash is counted.
    case released
}

/// The end of one attempt, to be reported together with others.
package struct Ending: Sendable, Hashable {
    /// The job's id.
    package let id: String
    /// The token of the job's claim.
    package let token: String
    /// How the attempt ended.
    package let outcome: Outcome
    /// The attempt's lines for the job's log.
    package let log: [String]

    package init(id: String, token: String, outcome: Outcome, log: [String] = []) {
        self.id = id
        self.token = token
        self.outcome = outcome
        self.log = log
    }
}

/// The reply to `finish`; a repeated call gets the first reply again.
package enum FinishAnswer: Sendable, Hashable {
    /// The job's new state, and if it is delayed, when it is due, in milliseconds since 1970.
    case acknowledged(JobState, retryAt: Int64?)
    /// The token no longer owns the job; nothing was changed.
    case stale
    /// The job is publishing, so it can be neither cancelled nor released; nothing was changed.
    case publishing
}

/// Whether a result may become visible.
package enum PublishAnswer: Sendable, Hashable {
    case ok, cancelled, stale
    /// The job's deadline has passed.
    case expired
}

/// How to continue with a job that an earlier owner had begun to publish, and whose result is not visible.
package enum RecoveryAnswer: String, Sendable, Hashable {
    case ok = "OK"
    /// The job has ended: its cancellation had been requested.
    case cancelled = "CANCELLED"
    /// The job has failed: it had crashed the maximum number of times.
    case crashed = "CRASHED"
    /// The job's deadline has passed.
    case expired = "EXPIRED"
    case stale = "STALE"
}
