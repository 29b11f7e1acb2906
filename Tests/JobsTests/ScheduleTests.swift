import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct ScheduleTests {
    private static let fields = QueueFixture.job

    private static func put(
        _ name: String, _ fixture: QueueFixture, _ more: [String: String] = [:], replaces: Bool = false
    ) async throws -> Bool {
        try await fixture.queue.putSchedule(
            name, try Recurrence("30 2 * * *", zone: "Europe/Berlin"), fields: fields.merging(more) { $1 },
            replaces: replaces)
    }

    /// Lets a schedule be due, as if nobody had looked for a while.
    private static func makeDue(_ name: String, _ fixture: QueueFixture, at time: String = "1000") async throws {
        _ = try await fixture.client.send(["ZADD", .text(fixture.queue.keys.schedules), .text(time), .text(name)])
    }

    private static func schedule(_ name: String, _ fixture: QueueFixture) async throws -> ScheduleRecord {
        let found = try await fixture.queue.schedule(name)
        return try #require(found)
    }

    @Test func `a schedule pushes one job for all missed occurrences, however many workers look`() async throws {
        try await QueueFixture.run { fixture in
            #expect(try await Self.put("night", fixture))
            #expect(try await !fixture.beat([]).isScheduleDue)
            for round in 1...5 {
                try await Self.makeDue("night", fixture)
                #expect(try await fixture.beat([]).isScheduleDue)
                let queue = fixture.queue
                let ids = try await withThrowingTaskGroup(of: [String].self) { group in
                    for _ in 0..<8 {
                        group.addTask { try await queue.runDueSchedules().map { try $0.job.get() } }
                    }
                    return try await group.reduce(into: [String]()) { $0 += $1 }
                }
                #expect(ids.count == 1)
                #expect(try await fixture.queue.stats()[.waiting] == round)
                let schedule = try await Self.schedule("night", fixture)
                #expect(schedule.job == ids.first && schedule.last == 1000)
                #expect(try await !fixture.beat([]).isScheduleDue)
            }
        }
    }

    @Test func `a schedule fills in the occurrence's local date and time`() async throws {
        try await QueueFixture.run { fixture in
            let more = ["output": "{date}/{time}-{date}.mp3", "group": "night-{date}"]
            #expect(try await Self.put("night", fixture, more))
            try await Self.makeDue("night", fixture, at: "1773189000000")
            let id = try #require(try await fixture.queue.runDueSchedules().first).job.get()
            #expect(try await fixture.record(id).group == "night-2026-03-11")
            #expect(try await fixture.claimOne().fields["output"] == "2026-03-11/01-30-2026-03-11.mp3")
        }
    }

    @Test func `a schedule with a dedup key pushes no second job while the last one is unfinished`() async throws {
        try await QueueFixture.run { fixture in
            #expect(try await Self.put("night", fixture, ["dedup": "night"]))
            let schedule = try await Self.schedule("night", fixture)
            let first = try await fixture.queue.runSchedule(schedule)
            #expect(try await fixture.queue.runSchedule(schedule) == first)
            #expect(try await fixture.queue.stats()[.waiting] == 1)
        }
    }

    @Test func `a schedule is replaced only on request, and the new one forgets what the old one saw`() async throws {
        try await QueueFixture.run { fixture in
            #expect(try await Self.put("night", fixture))
            let old = try await Self.schedule("night", fixture)
            #expect(try await !Self.put("night", fixture, ["format": "wav"]))
            #expect(try await Self.schedule("night", fixture) == old)
            #expect(try await Self.put("night", fixture, ["format": "wav"], replaces: true))
            #expect(try await !fixture.queue.setSchedule(old, isPaused: true))
            let new = try await Self.schedule("night", fixture)
            #expect(new.fields["format"] == "wav" && new.next == old.next)
        }
    }

    @Test func `a paused schedule pushes nothing until it is resumed, and a removed one nothing ever`() async throws {
        try await QueueFixture.run { fixture in
            #expect(try await Self.put("a", fixture))
            #expect(try await Self.put("b", fixture))
            let schedule = try await Self.schedule("a", fixture)
            #expect(try await fixture.queue.setSchedule(schedule, isPaused: true))
            #expect(try await fixture.queue.schedules().map(\.name) == ["b", "a"])
            #expect(try await Self.put("a", fixture, replaces: true))
            #expect(try await Self.schedule("a", fixture).next == nil)
            let corrected = try await Self.schedule("a", fixture)
            #expect(try await !fixture.queue.setSchedule(schedule, isPaused: false))
            #expect(try await fixture.queue.setSchedule(corrected, isPaused: false))
            #expect(try await Self.schedule("a", fixture).next == schedule.next)
            #expect(try await fixture.queue.removeSchedule("a"))
            #expect(try await !fixture.queue.removeSchedule("a"))
            #expect(try await fixture.queue.runSchedule(schedule) == nil)
            #expect(try await fixture.queue.schedules().map(\.name) == ["b"])
        }
    }

    @Test func `an unreadable schedule is left to other workers, and the doctor names it`() async throws {
        try await QueueFixture.run { fixture in
            #expect(try await Self.put("far", fixture))
            #expect(try await Self.put("near", fixture))
            let key = RedisArgument.text(fixture.queue.keys.schedule("far"))
            _ = try await fixture.client.send(["HSET", key, "zone", "Mars/Olympus"])
            for name in ["far", "near"] { try await Self.makeDue(name, fixture) }
            let results = try await fixture.queue.runDueSchedules()
            #expect(results.map(\.name) == ["far", "near"])
            #expect(throws: Failure.self) { try results[0].job.get() }
            #expect(try await Self.schedule("far", fixture).next == 1000)
            let found = try await QueueAudit(fixture.queue).lastingProblems(pause: .milliseconds(1)).sentences
            #expect(
                found.contains { $0.contains("the schedule far cannot be read: there is no time zone `Mars/Olympus`") })
            #expect(found.contains { $0.hasPrefix("the schedule far was due at 1970-01-01T00:00:01.000Z") })
            #expect(try await fixture.queue.removeSchedule("far"))
        }
    }

    @Test func `a schedule is not held up by others that cannot run, however many they are`() async throws {
        try await QueueFixture.run { fixture in
            let (keys, broken) = (fixture.queue.keys, (0..<120).map { "broken\($0)" })
            for name in broken + ["unfit", "good"] {
                #expect(try await Self.put(name, fixture))
                try await Self.makeDue(name, fixture, at: name == "good" ? "2000" : "1000")
            }
            for name in broken {
                _ = try await fixture.client.send(["HSET", .text(keys.schedule(name)), "zone", "Mars/Olympus"])
            }
            // The script itself fails, before it has changed anything.
            _ = try await fixture.client.send(["HSET", .text(keys.schedule("unfit")), "spec", "{"])
            let results = try await fixture.queue.runDueSchedules()
            #expect(results.count == 122)
            #expect(throws: Never.self) { try results.first { $0.name == "good" }?.job.get() }
            #expect(throws: Failure.self) { try results.first { $0.name == "unfit" }?.job.get() }
            #expect(try await Self.schedule("unfit", fixture).next == 1000)
            #expect(try await fixture.queue.stats()[.waiting] == 1)
            for name in broken + ["unfit"] { #expect(try await fixture.queue.removeSchedule(name)) }
        }
    }

    @Test func `a schedule is added and run once, though the answer was lost and the call repeated`() async throws {
        try await QueueFixture.run { fixture in
            let yearly = try Recurrence("@yearly", zone: "UTC")
            for _ in 1...2 {
                #expect(try await fixture.queue.putSchedule("s", yearly, fields: Self.fields, nonce: "n1"))
            }
            #expect(try await !fixture.queue.putSchedule("s", yearly, fields: Self.fields, nonce: "n2"))
            let schedule = try await Self.schedule("s", fixture)
            let ids = [
                try await fixture.queue.runSchedule(schedule, nonce: "r1"),
                try await fixture.queue.runSchedule(schedule, nonce: "r1"),
                try await fixture.queue.runSchedule(schedule, nonce: "r2"),
            ]
            #expect(ids[0] != nil && ids[0] == ids[1] && ids[1] != ids[2])
            #expect(try await fixture.queue.stats()[.waiting] == 2)
        }
    }

    @Test func `a job of a schedule that is no longer valid fails, and the schedule goes on`() async throws {
        try await QueueFixture.run { fixture in
            #expect(try await Self.put("night", fixture, ["group": "g"]))
            let schedule = try await Self.schedule("night", fixture)
            let first = try #require(try await fixture.queue.runSchedule(schedule))
            #expect(try await fixture.queue.seal("g") == .sealed)
            let second = try #require(try await fixture.queue.runSchedule(schedule))
            #expect(try await fixture.state(first) == .waiting)
            #expect(try await fixture.record(second).error?.message.contains("is sealed") == true)
        }
    }
}
