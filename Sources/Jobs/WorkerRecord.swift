/// A worker process as it is registered in the queue.
package struct WorkerRecord: Sendable, Hashable {
    /// `host:pid:nonce`.
    package let name: String
    /// The name of the machine or container.
    package let host: String
    /// The number of jobs that the worker runs at once.
    package let slots: Int
    /// The worker's version of respool.
    package let version: String
    /// Facts about the worker that operators see.
    package var traits: Set<Trait>
    /// The ids of the jobs that the worker is running.
    package var jobs: [String]
    /// Milliseconds since the last beat, by the clock of Redis; `nil` in a record that is being written.
    package let silence: Int64?
    /// Whether the worker was told to claim no more jobs.
    package let isQuiet: Bool

    /// A fact about a worker, by its word in Redis.
    package enum Trait: String, Sendable {
        /// It has no output root, as its operator chose, so a job whose output is a path fails there.
        case urlOutputs = "url_outputs"
        /// It counts the threads of its children, for nothing in the kernel limits them.
        case countedThreads = "counted_threads"
        /// A control group limits the threads of each of its children.
        case limitedThreads = "limited_threads"
    }

    /// `host:pid` of `host:pid:nonce`.
    static func shortName(_ name: String) -> String {
        name.lastIndex(of: ":").map { String(name[..<$0]) } ?? name
    }

    package init(
        name: String, host: String, slots: Int, version: String, traits: Set<Trait> = [], jobs: [String] = [],
        silence: Int64? = nil,
        isQuiet: Bool = false
    ) {
        self.name = name
        self.host = host
        self.slots = slots
        self.version = version
        self.traits = traits
        self.jobs = jobs
        self.silence = silence
        self.isQuiet = isQuiet
    }
}
