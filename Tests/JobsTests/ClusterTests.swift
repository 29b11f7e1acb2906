import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct ClusterTests {
    @Test func `each job runs once while its slot moves to another node`() async throws {
        let cluster = try await RedisCluster()
        let name = try QueueName("test")
        let keys = QueueKeys(name)
        func queue(_ client: String) throws -> JobQueue {
            // The leases of a machine that stands still for seconds do not expire.
            var settings = QueueSettings()
            settings.lease = .seconds(600)
            let client = RedisClient(url: try cluster.url, name: client, key: keys.meta, timeout: .seconds(60))
            return JobQueue(client: client, name: name, settings: settings)
        }
        let producer = try queue("producer")
        let move = try await SlotMove(cluster, keys.meta)
        var ids = try await producer.enqueue(Array(repeating: QueueFixture.job, count: 60)).map(\.id)
        let finished = try await withThrowingTaskGroup(of: [String].self) { group in
            for number in 0..<3 {
                let queue = try queue("worker")
                group.addTask { try await Self.work(queue, "host:\(number):x", jobs: 30) }
            }
            try await eventually("some jobs are done") { try await producer.stats()[.completed] > 5 }
            try await move.begin()
            var rest = try await move.rest()
            #expect(rest.count > 60)
            var pushed = 0
            while !rest.isEmpty {
                // The index goes before the jobs that it names, or after them: wherever it is, it must stay whole.
                try await move.carry(Array(rest.shuffled().prefix(30)))
                if pushed < 10 {
                    ids.append(try await producer.push(QueueFixture.job))
                    pushed += 1
                }
                rest = try await move.rest()
            }
            try await move.end()
            for _ in pushed..<30 { ids.append(try await producer.push(QueueFixture.job)) }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(finished.count == 90)
        #expect(Set(finished) == Set(ids))
        #expect(try await producer.stats()[.completed] == 90)
        #expect(try await QueueAudit(producer).problems() == [])
        #expect(try await cluster.nodes[0].client().send(["DBSIZE"]).integer == 0)
    }

    /// Does jobs as a worker does, until so many are done, and answers whose end it was told.
    private static func work(_ queue: JobQueue, _ worker: String, jobs count: Int) async throws -> [String] {
        var done: [String] = []
        while done.count < count {
            let request = ClaimRequest()
            let claim = try await patiently { () async throws(QueueError) in
                try await queue.claim(request, count: 1, worker: worker)
            }
            for job in claim.jobs {
                let answer = try await patiently { () async throws(QueueError) in
                    try await queue.publish(id: job.id, token: job.token, record: QueueFixture.commit)
                }
                #expect(answer == .ok)
                let end = try await patiently { () async throws(QueueError) in
                    try await queue.finish(
                        id: job.id, token: job.token, outcome: .completed([QueueFixture.report]), log: [])
                }
                #expect(end == .acknowledged(.completed, retryAt: nil))
                done.append(job.id)
            }
            if claim.jobs.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        }
        return done
    }

    private static func patiently<Answer>(_ call: () async throws(QueueError) -> Answer) async throws -> Answer {
        while true {
            do throws(QueueError) { return try await call() } catch {
                guard error.isTransient else { throw error }
            }
        }
    }
}
