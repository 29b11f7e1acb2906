package import Redis
package import SlotProtocol

/// One queue on one server: every change of a job is one script, run whole or not at all.
package struct JobQueue: Sendable {
    package let name: QueueName
    package let settings: QueueSettings
    package let keys: QueueKeys
    let client: RedisClient

    package init(client: RedisClient, name: QueueName = .default, settings: QueueSettings = .init()) {
        self.client = client
        self.name = name
        self.settings = settings
        keys = QueueKeys(name)
    }
}

extension JobQueue {
    /// Pushes jobs, each checked first; repeated with the same nonce, answers the same ids.
    package func enqueue(
        _ specs: [[String: String]], nonce: String = Nonce.random()
    ) async throws(QueueError) -> [Enqueued] { fatalError("in the making") }

    /// Takes up to `count` jobs for the worker (`host:pid:nonce`); repeated with the same nonce, answers the same jobs.
    package func claim(
        nonce: String = Nonce.random(), count: Int, worker: String
    ) async throws(QueueError) -> Claim { fatalError("in the making") }

    /// Renews the leases of the worker's jobs, stores their progress and the worker's record; idle workers beat too.
    package func beat(
        worker: WorkerRecord, jobs: [Heartbeat]
    ) async throws(QueueError) -> BeatAnswer { fatalError("in the making") }

    /// Forgets a worker that stops; its jobs should have been given back.
    package func leave(worker: String) async throws(QueueError) { fatalError("in the making") }

    /// Asks whether the job's result may become visible, and writes down what is about to.
    package func publish(
        id: String, token: String, record: CommitRecord
    ) async throws(QueueError) -> PublishAnswer { fatalError("in the making") }

    /// Ends the try that the token stands for.
    package func finish(
        id: String, token: String, outcome: Outcome, log: [String] = []
    ) async throws(QueueError) -> FinishAnswer { fatalError("in the making") }

    /// Wakes one idle worker if there is something to claim: for a worker that took a bell and cannot claim.
    package func ring() async throws(QueueError) { fatalError("in the making") }

    package func cancel(_ ids: [String]) async throws(QueueError) -> [CancelAnswer] { fatalError("in the making") }

    package func retry(_ ids: [String]) async throws(QueueError) -> [RetryAnswer] { fatalError("in the making") }

    package func pause() async throws(QueueError) { fatalError("in the making") }

    package func resume() async throws(QueueError) { fatalError("in the making") }

    /// Deletes up to 500 jobs of a state, and answers how many; `running` ones are never touched.
    package func purge(_ state: JobState) async throws(QueueError) -> Int { fatalError("in the making") }

    package func stats() async throws(QueueError) -> QueueStats { fatalError("in the making") }

    /// A page of the jobs in a state, or in any.
    package func list(
        state: JobState? = nil, limit: Int = 100, cursor: JobCursor? = nil
    ) async throws(QueueError) -> JobPage { fatalError("in the making") }

    /// What is known of each id; nothing for an id that no job has.
    package func jobs(_ ids: [String]) async throws(QueueError) -> [JobRecord?] { fatalError("in the making") }

    /// The last log lines of a job's last try.
    package func log(_ id: String) async throws(QueueError) -> [String] { fatalError("in the making") }

    package func workers() async throws(QueueError) -> [WorkerRecord] { fatalError("in the making") }
}
