/// The keys of one queue; their hash tag keeps them in one hash slot of a cluster.
package struct QueueKeys: Sendable, Hashable {
    package let prefix: String

    package init(_ name: QueueName) {
        prefix = "respool:{\(name.text)}:"
    }

    /// The stream to which any producer may push a job.
    package var inbox: String { prefix + "in" }
    package var ready: String { prefix + "ready" }
    package var delayed: String { prefix + "delayed" }
    package var lease: String { prefix + "lease" }
    /// Waiting and running jobs, for autoscalers.
    package var live: String { prefix + "live" }
    package var done: String { prefix + "done" }
    package var failed: String { prefix + "failed" }
    package var cancelled: String { prefix + "cancelled" }
    package var meta: String { prefix + "meta" }
    package var events: String { prefix + "events" }
    package var workers: String { prefix + "workers" }
    /// Waiting jobs whose `limit_key` has no free permit.
    package var parked: String { prefix + "parked" }
    /// How many jobs of a `limit_key` run at once.
    package var limits: String { prefix + "limits" }
    /// How many jobs of a `limit_key` start per minute.
    package var rates: String { prefix + "rates" }
    /// When each schedule is due next.
    package var schedules: String { prefix + "schedules" }
    /// Receivers of callbacks, by when each is to be checked.
    package var callbacks: String { prefix + "callbacks" }
    /// Finished callbacks.
    package var called: String { prefix + "called" }

    package func job(_ id: String) -> String { prefix + "job:" + id }
    /// The job as it was pushed, as JSON.
    package func spec(_ id: String) -> String { prefix + "spec:" + id }
    /// The outputs of a completed job, as JSON.
    package func result(_ id: String) -> String { prefix + "result:" + id }
    package func log(_ id: String) -> String { prefix + "log:" + id }
    /// The commit record of a job that is publishing, or whose last publication was interrupted.
    package func commit(_ id: String) -> String { prefix + "commit:" + id }
    /// The id of the job that a duplicate's id refers to.
    package func alias(_ id: String) -> String { prefix + "alias:" + id }
    package func dedup(_ key: String) -> String { prefix + "dedup:" + key }
    /// The counts of a group.
    package func group(_ name: String) -> String { prefix + "group:" + name }
    package func members(_ group: String) -> String { prefix + "group:" + group + ":ids" }
    /// The running jobs of a `limit_key`.
    package func limit(_ key: String) -> String { prefix + "limit:" + key }
    package func parked(_ key: String) -> String { prefix + "parked:" + key }
    package func callback(_ id: String) -> String { prefix + "callback:" + id }
    /// The unfinished callbacks of a receiver, by when each is due.
    package func callbacks(_ receiver: String) -> String { prefix + "callbacks:" + receiver }
    package func worker(_ name: String) -> String { prefix + "worker:" + name }
    /// A scheduled job.
    package func schedule(_ name: String) -> String { prefix + "schedule:" + name }
}
