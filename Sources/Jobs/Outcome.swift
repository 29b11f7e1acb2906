package import JobSchema

/// How one try of a job ended.
package enum Outcome: Sendable, Hashable {
    case completed([OutputReport])
    /// The job is delayed for another try if the failure is retryable and a try is left; otherwise it has failed.
    ///
    /// Where only some of several outputs failed, all of them are told.
    case failed(Failure, outputs: [OutputReport] = [])
    /// A process of the slot died: the try is given back and a crash is charged.
    case crashed(Failure)
    case cancelled
    /// Given back by a worker that drains; nothing is charged.
    case released
}

/// The end of one try, to be told together with others.
package struct Ending: Sendable, Hashable {
    package let id: String
    package let token: String
    package let outcome: Outcome
    package let log: [String]

    package init(id: String, token: String, outcome: Outcome, log: [String] = []) {
        self.id = id
        self.token = token
        self.outcome = outcome
        self.log = log
    }
}

/// What became of a job whose try ended; a repeated `finish` gets its first answer again.
package enum FinishAnswer: Sendable, Hashable {
    /// The job's new state, and for a delayed one when it is due, in milliseconds since 1970.
    case acknowledged(JobState, retryAt: Int64?)
    /// The token is no longer the job's; nothing was changed.
    case stale
    /// The job is publishing, so it can neither be cancelled nor be given back; nothing was changed.
    case publishing
}

/// Whether a result may become visible.
package enum PublishAnswer: Sendable, Hashable {
    case ok, cancelled, stale
    /// The job's deadline is over.
    case expired
}

/// How to go on with a job that a former owner had begun to publish, and whose result is not visible.
package enum RecoveryAnswer: String, Sendable, Hashable {
    case ok = "OK"
    /// The job has ended: it was to be cancelled.
    case cancelled = "CANCELLED"
    /// The job has failed: it had crashed as often as it may.
    case crashed = "CRASHED"
    /// The job's deadline is over.
    case expired = "EXPIRED"
    case stale = "STALE"
}
