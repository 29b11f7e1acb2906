import Foundation
import Jobs
import Redis
import TestSupport
import Testing

/// Workers that push the jobs of schedules.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ScheduleTests {
    @Test func `two workers push one job for each occurrence, and one of them runs it`() async throws {
        let shop = try await Workshop()
        let source = try shop.source("a.wav", Sounds.ramp(samples: 4410))
        let yearly = try Recurrence("@yearly", zone: "UTC")
        #expect(
            try await shop.queue.putSchedule(
                "s", yearly, fields: ["source": source, "format": "flac", "output": "{date}-{time}.flac"]))
        let workers = [try await shop.worker(), try await shop.worker()]
        for time in ["1000", "60000", "120000"] {
            let before = try await shop.queue.stats()[.completed]
            _ = try await shop.client.send(["ZADD", .text(shop.queue.keys.schedules), .text(time), "s"])
            try await eventually("the job is there and over") {
                try await shop.queue.stats()[.completed] == before + 1
            }
            let id = try #require(try await shop.queue.schedule("s")?.job)
            try await eventually("its worker tells") {
                workers.count { $0.errors.contains("\"\(id)\"") && $0.errors.contains("scheduled") } > 0
            }
        }
        #expect(try await shop.queue.list().jobs.count == 3)
        #expect(Set(shop.outputs) == ["1970-01-01-00-00.flac", "1970-01-01-00-01.flac", "1970-01-01-00-02.flac"])
    }

    @Test func `a worker warns once of a schedule that it cannot run, and again if that recurs after a repair`()
        async throws
    {
        let shop = try await Workshop()
        let worker = try await shop.worker()
        let fields = ["source": "https://example.org/a.wav", "format": "flac"]
        #expect(try await shop.queue.putSchedule("s", try Recurrence("@yearly", zone: "UTC"), fields: fields))
        let keys = shop.queue.keys
        func put(zone: String, thenRun name: String) async throws {
            _ = try await shop.client.send(["HSET", .text(keys.schedule("s")), "zone", .text(zone)])
            _ = try await shop.client.send(["ZADD", .text(keys.schedules), "1000", "s"])
            // Another that can run shows that the worker has looked.
            for _ in 1...2 {
                #expect(
                    try await shop.queue.putSchedule(
                        name, try Recurrence("@yearly", zone: "UTC"), fields: fields, replaces: true))
                _ = try await shop.client.send(["ZADD", .text(keys.schedules), "2000", .text(name)])
                try await eventually("it ran") {
                    try await shop.queue.schedule(name)?.next ?? 0 > 2000
                }
            }
        }
        func complaints() -> Int { worker.errors.components(separatedBy: "is skipped by this worker").count - 1 }
        try await put(zone: "Mars/Olympus", thenRun: "a")
        #expect(complaints() == 1)
        try await put(zone: "UTC", thenRun: "b")
        #expect(try await shop.queue.schedule("s")?.last == 1000)
        try await put(zone: "Mars/Olympus", thenRun: "c")
        try await eventually("it is said again") { complaints() == 2 }
    }
}
