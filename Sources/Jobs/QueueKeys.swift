/// The keys of one queue; their hash tag keeps them in one hash slot of a cluster.
package struct QueueKeys: Sendable, Hashable {
    /// The prefix of all keys of the queue: `respool:{NAME}:`.
    package let prefix: String

    /// The keys follow from the name alone; Redis is not accessed.
    package init(_ name: QueueName) {
        prefix = "respool:{\(name.text)}:"
    }

    /// The stream to which any producer may push a job.
    package var inbox: String { prefix + "in" }
    /// The sorted set of waiting jobs that may run, by priority and admission.
    package var ready: String { prefix + "ready" }
    /// The sorted set of delayed jobs, by when each is due.
    package var delayed: String { prefix + "delayed" }
    /// The sorted set of running jobs, by when the lease of each expires.
    package var lease: String { prefix + "lease" }
    /// Waiting and running jobs, for autoscalers.
    package var live: String { prefix + "live" }
    /// The sorted set of completed jobs, by when each finished.
    package var done: String { prefix + "done" }
    /// The sorted set of failed jobs, by when each finished.
    package var failed: String { prefix + "failed" }
    /// The sorted set of cancelled jobs, by when each finished.
    package var cancelled: String { prefix + "cancelled" }
    /// The hash with the queue's counters, settings and pause.
    package var meta: String { prefix + "meta" }
    /// The stream of changes.
    package var events: String { prefix + "events" }
    /// The sorted set of workers, by their last heartbeat.
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

    /// The hash with a job's state.
    package func job(_ id: String) -> String { prefix + "job:" + id }
    /// The job as it was pushed, as JSON.
    package func spec(_ id: String) -> String { prefix + "spec:" + id }
    /// The outputs of a completed job, as JSON.
    package func result(_ id: String) -> String { prefix + "result:" + id }
    /// The log lines of a job's attempts.
    package func log(_ id: String) -> String { prefix + "log:" + id }
    /// The commit record of a job that is publishing, or whose last publication was interrupted.
    package func commit(_ id: String) -> String { prefix + "commit:" + id }
    /// The id of the job that a duplicate's id refers to.
    package func alias(_ id: String) -> String { prefix + "alias:" + id }
    /// The id of the unfinished job that holds a dedup key.
    package func dedup(_ key: String) -> String { prefix + "dedup:" + key }
    /// The counts of a group.
    package func group(_ name: String) -> String { prefix + "group:" + name }
    /// The ids of a group's jobs.
    package func members(_ group: String) -> String { prefix + "group:" + group + ":ids" }
    /// The running jobs of a `limit_key`.
    package func limit(_ key: String) -> String { prefix + "limit:" + key }
    /// The waiting jobs of one `limit_key` that have no permit.
    package func parked(_ key: String) -> String { prefix + "parked:" + key }
    /// The hash of a delivery.
    package func callback(_ id: String) -> String { prefix + "callback:" + id }
    /// The unfinished callbacks of a receiver, by when each is due.
    package func callbacks(_ receiver: String) -> String { prefix + "callbacks:" + receiver }
    /// The hash with a worker's record and its last claim.
    package func worker(_ name: String) -> String { prefix + "worker:" + name }
    /// The response to a request that may be repeated.
    package func reply(_ name: String) -> String { prefix + "reply:" + name }
    /// The answer to a push that may be repeated.
    func replay(_ name: String) -> String { prefix + "replay:" + name }
    /// A scheduled job.
    package func schedule(_ name: String) -> String { prefix + "schedule:" + name }
}
