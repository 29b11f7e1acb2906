import Configuration
import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct RetentionTests {
    @Test func `a maximum number of each outcome is kept, and the oldest jobs go with all their keys`() async throws {
        var settings = QueueSettings()
        settings.done.count = 5
        settings.failed.count = 3
        settings.cancelled.count = 0
        try await QueueFixture.run(settings: settings) { fixture in
            var completed: [String] = []
            for index in 0..<24 {
                let id = try await fixture.enqueue(["dedup": "k\(index)"])
                let job = try await fixture.claimOne()
                switch index % 3 {
                case 0:
                    _ = try await fixture.finish(job, .completed([QueueFixture.report]), log: ["x"])
                    completed.append(id)
                case 1: _ = try await fixture.finish(job, .failed(Failure(.noAudio, "x")), log: ["x"])
                default: _ = try await fixture.finish(job, .cancelled)
                }
            }
            _ = try await fixture.beat([])
            let stats = try await fixture.queue.stats()
            #expect(stats[.completed] == 5 && stats[.failed] == 3 && stats[.cancelled] == 0)
            #expect(try await fixture.queue.list(state: .completed).jobs.map(\.id) == completed.suffix(5).reversed())
            let keys = try await fixture.client.send(["KEYS", .text(fixture.queue.keys.prefix + "spec:*")]).array
            #expect(keys?.count == 8)
        }
    }

    @Test func `old jobs are removed by age`() async throws {
        var settings = QueueSettings()
        settings.done.age = .seconds(60)
        try await QueueFixture.run(settings: settings) { fixture in
            let id = try await fixture.enqueue()
            _ = try await fixture.finish(try await fixture.claimOne(), .completed([]))
            #expect(try await fixture.state(id) == .completed)
            let finished = RedisArgument.integer(try await fixture.now() - 60_001)
            _ = try await fixture.client.send(["ZADD", .text(fixture.queue.keys.done), finished, .text(id)])
            _ = try await fixture.beat([])
            #expect(try await fixture.state(id) == nil)
        }
    }

    @Test(arguments: [[], ["x"]])
    func `the spec and the log of a finished job have a time to live, and its other keys stay until it is trimmed`(
        log: [String]
    ) async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            _ = try await fixture.finish(try await fixture.claimOne(), .completed([QueueFixture.report]), log: log)
            let keys = fixture.queue.keys
            for key in [keys.spec(id)] + (log.isEmpty ? [] : [keys.log(id)]) {
                let left = try await fixture.client.send(["TTL", .text(key)]).integer ?? 0
                #expect((7 * 86_400...8 * 86_400).contains(left))
            }
            for key in [keys.job(id), keys.result(id)] {
                #expect(try await fixture.client.send(["TTL", .text(key)]) == .integer(-1))
            }
        }
    }

    @Test func `every script that ends jobs trims them, also without a heartbeat`() async throws {
        var settings = QueueSettings()
        settings.failed.count = 2
        try await QueueFixture.run(settings: settings) { fixture in
            _ = try await fixture.claim()
            for _ in 0..<40 { try await fixture.push([QueueFixture.longName: ""]) }
            try await fixture.queue.runMaintenance()
            #expect(try await fixture.queue.stats()[.failed] == 2)
        }
    }

    @Test func `the worker's settings apply to every job`() async throws {
        var settings = QueueSettings()
        settings.cancelled.count = 2
        try await QueueFixture.run(settings: settings) { fixture in
            _ = try await fixture.claim()
            let stranger = JobQueue(client: fixture.client, name: fixture.queue.name)
            let ids = try await stranger.enqueue(Array(repeating: QueueFixture.job, count: 5)).map(\.id)
            _ = try await stranger.cancel(ids)
            #expect(try await stranger.stats()[.cancelled] == 2)
        }
    }

    @Test func `a program that is no worker keeps the workers' settings`() async throws {
        var settings = QueueSettings()
        settings.cancelled.count = 2
        settings.lease = .seconds(60)
        try await QueueFixture.run(settings: settings) { fixture in
            let (keys, stranger) = (fixture.queue.keys, JobQueue(client: fixture.client, name: fixture.queue.name))
            func saved() async throws -> String? {
                try await fixture.client.send(["HGET", .text(keys.meta), "settings"]).string
            }
            try await stranger.runMaintenance()
            #expect(try await saved() == nil)
            _ = try await fixture.claim()
            let line = try #require(try await saved())
            #expect(line.hasPrefix("60000 ") && line.contains("cancelled 2 "))
            try await stranger.runMaintenance()
            let id = try await fixture.push()
            #expect(try await stranger.remove(id) == .removed)
            #expect(try await saved() == line)
        }
    }

    @Test func `the settings are read from the environment`() throws {
        let values = [
            "RESPOOL_MAX_CRASHES": "100", "RESPOOL_KEEP_COMPLETED": "50/12h", "RESPOOL_KEEP_FAILED": "7",
            "RESPOOL_KEEP_EVENTS": "600000",
        ]
        let settings = try QueueSettings(Environment(values))
        #expect(settings.maxCrashes == 100 && settings.failed.count == 7 && settings.events == 600_000)
        #expect(settings.done == .init(count: 50, age: .seconds(43_200)))
        for (name, value) in [
            ("RESPOOL_MAX_CRASHES", "0"), ("RESPOOL_KEEP_COMPLETED", "5/x"), ("RESPOOL_KEEP_COMPLETED", "many"),
            ("RESPOOL_KEEP_EVENTS", "99"), ("RESPOOL_KEEP_EVENTS", "1d"),
        ] {
            let failure = #expect(throws: SettingError.self) {
                try QueueSettings(Environment([name: value]))
            }
            #expect(failure?.message.contains("\(name) is '\(value)': expected") == true)
        }
    }
}
