import Foundation
import JobSchema
import Lifecycle
import MediaTypes
import Redis
import TestSupport
import Testing

@testable import Jobs

/// Callbacks in Redis: what is made, by whom it is taken, and what becomes of it.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct CallbackTests {
    private static let url = "https://hook:secret@x.org:8443/a?key=secret"

    private func data(_ callback: Callback, _ fixture: QueueFixture) throws -> [String: Any] {
        let body = Data(try callback.body(queue: fixture.queue.name))
        #expect(body.count <= 64 << 10 && !String(decoding: body, as: UTF8.self).contains("secret"))
        let object = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        #expect(object["type"] as? String == callback.what && object["queue"] as? String == "test")
        #expect(object["timestamp"] as? String == WallClock.timestamp(milliseconds: callback.at))
        return try #require(object["data"] as? [String: Any])
    }

    /// Takes all that is due, and ends it well.
    private func drain(_ fixture: QueueFixture) async throws -> [Callback] {
        var all: [Callback] = []
        while true {
            let some = try await fixture.queue.claimCallbacks(count: 16)
            if some.isEmpty { return all }
            for callback in some {
                let answer = try await fixture.queue.finishCallback(
                    callback, .delivered(status: 200), after: .milliseconds(5))
                #expect(answer == .delivered)
            }
            all += some
        }
    }

    @Test func `each way in which a job ends makes one callback`() async throws {
        var settings = QueueSettings()
        settings.maxCrashes = 1
        // What is over is gone before anybody sends anything.
        settings.cancelled.count = 0
        try await QueueFixture.run(settings: settings) { fixture in
            let fields = ["callback": Self.url]
            var expected: [String: String] = [:]
            for outcome: Jobs.Outcome in [
                .completed([QueueFixture.report]), .failed(Failure(.noAudio, "silent")), .cancelled,
                .crashed(Failure(.crashed, "dead")),
            ] {
                let id = try await fixture.enqueue(fields)
                _ = try await fixture.finish(try await fixture.claimOne(), outcome)
                expected[id] =
                    switch outcome {
                    case .completed: "job.completed"
                    case .cancelled: "job.cancelled"
                    default: "job.failed"
                    }
            }
            let reaped = try await fixture.enqueue(fields)
            _ = try await fixture.claimOne()
            try await fixture.endLeases()
            _ = try await fixture.beat([])
            expected[reaped] = "job.failed"
            let expired = try await fixture.enqueue(fields.merging(["expires": "2001-01-01T00:00:00Z"]) { $1 })
            _ = try await fixture.claim()
            expected[expired] = "job.failed"
            for refused in [["colour": "red"], ["metadata": String(repeating: "x", count: 5000), "priority": "x"]] {
                expected[try await fixture.push(fields.merging(refused) { $1 })] = "job.failed"
            }
            try await fixture.claimRight(2)
            let waiting = try await fixture.enqueue(fields)
            let queued = try await fixture.push(fields)
            _ = try await fixture.queue.cancel([waiting, queued])
            expected[waiting] = "job.cancelled"
            expected[queued] = "job.cancelled"
            _ = try await fixture.enqueue()
            _ = try await fixture.finish(try await fixture.claimOne(), .completed([]))
            // None of these is over.
            let delayed = try await fixture.enqueue(fields)
            _ = try await fixture.finish(try await fixture.claimOne(), .failed(Failure(.timeout, "slow")))
            #expect(try await fixture.state(delayed) == .delayed)

            #expect(try await fixture.beat([]).hasCallbacks)
            let made = try await drain(fixture)
            let told = Dictionary(made.map { ($0.subject.job ?? "", $0.what) }) { "\($0) \($1)" }
            #expect(told == expected)
            #expect(Set(made.map(\.id)).count == made.count && made.allSatisfy { $0.url == Self.url })
            #expect(try await fixture.beat([]).hasCallbacks == false)
            for callback in made {
                let data = try data(callback, fixture)
                #expect(data["id"] as? String == callback.subject.job)
                #expect(data["state"] as? String == callback.what.dropFirst(4).description)
                if callback.subject.job == reaped || callback.subject.job == expired {
                    #expect((data["error"] as? [String: Any])?["message"] != nil)
                    #expect(data["source"] as? String == "https://example.org/a.flac")
                }
            }
            let completed = try #require(made.first { $0.what == "job.completed" })
            let outputs = try #require(try data(completed, fixture)["outputs"] as? [[String: Any]])
            #expect(outputs.count == 1 && outputs[0]["url"] as? String == QueueFixture.report.url)
        }
    }

    @Test func `a callback reports the outcome that was, though the job is retried or deleted`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue(["callback": Self.url])
            _ = try await fixture.finish(try await fixture.claimOne(), .failed(Failure(.noAudio, "silent")))
            #expect(try await fixture.queue.retry([id], changes: ["format": "wav"]) == [.retried])
            _ = try await fixture.finish(try await fixture.claimOne(), .completed([QueueFixture.report]))
            _ = try await fixture.queue.purge(.completed)
            let made = try await drain(fixture).sorted { $0.what > $1.what }
            #expect(made.map(\.what) == ["job.failed", "job.completed"])
            let first = try data(made[0], fixture)
            #expect(first["state"] as? String == "failed" && first["format"] as? String == "mp3")
            #expect(first["outputs"] is NSNull)
            #expect(try data(made[1], fixture)["format"] as? String == "wav")
        }
    }

    @Test func `a retry can set, change and remove a callback`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            for change in ["https://one.org/", "https://two.org/", ""] {
                _ = try await fixture.finish(try await fixture.claimOne(), .failed(Failure(.noAudio, "silent")))
                #expect(try await fixture.queue.retry([id], changes: ["callback": change]) == [.retried])
            }
            _ = try await fixture.finish(try await fixture.claimOne(), .completed([]))
            #expect(try await drain(fixture).map(\.url) == ["https://one.org/", "https://two.org/"])
        }
    }

    @Test func `the body of a callback stays below its limit, whatever the result`() async throws {
        try await QueueFixture.run { fixture in
            var report = QueueFixture.report
            report.titles = (0..<400).map { .init(time: Double($0), title: String(repeating: "t", count: 300)) }
            _ = try await fixture.enqueue(["callback": Self.url])
            _ = try await fixture.finish(try await fixture.claimOne(), .completed([report, report]))
            let made = try await drain(fixture)
            let outputs = try #require(try data(made[0], fixture)["outputs"] as? [[String: Any]])
            #expect(outputs.count == 2 && (outputs[0]["titles"] == nil || outputs[0]["titles"] is NSNull))
        }
    }

    @Test func `a sealed group with nothing left makes exactly one callback`() async throws {
        try await QueueFixture.run { fixture in
            let spec = QueueFixture.job.merging(["group": "g"]) { $1 }
            let ids = try await fixture.queue.enqueue(Array(repeating: spec, count: 500)).map(\.id)
            #expect(try await fixture.queue.seal("g", callback: Self.url) == .sealed)
            #expect(try await fixture.queue.seal("g", callback: Self.url) == .sealed)
            #expect(try await fixture.queue.seal("g", callback: "https://other.org/") == .callbackTaken)
            #expect(try await fixture.queue.seal("h", callback: Self.url) == .unknown)
            let running = try await fixture.claim(20)
            _ = try await fixture.finish(running[0], .completed([QueueFixture.report]))
            _ = try await fixture.finish(running[1], .failed(Failure(.noAudio, "silent")))
            _ = try await fixture.queue.cancel(ids)
            #expect(try await fixture.queue.claimCallbacks(count: 16).isEmpty)
            for job in running.dropFirst(2) { _ = try await fixture.finish(job, .completed([])) }
            let made = try await drain(fixture)
            #expect(made.count == 1 && made[0].what == "group.finished" && made[0].subject == .group("g"))
            let data = try data(made[0], fixture)
            #expect(data["total"] as? Int == 500 && data["left"] as? Int == 0 && data["cancelled"] as? Int == 498)
            #expect(data["completed"] as? Int == 1 && data["failed"] as? Int == 1 && data["finished_at"] is String)
            // Once more, under another id, where a job of it ran again.
            _ = try await fixture.queue.retry([running[1].id])
            #expect(try await drain(fixture).isEmpty)
            _ = try await fixture.queue.cancel([running[1].id])
            let again = try await drain(fixture)
            #expect(again.count == 1 && again[0].id != made[0].id)
            #expect(try await fixture.queue.callbacks(of: .group("g")).map(\.id) == [again[0].id, made[0].id])
        }
    }

    @Test func `whoever seals a group in the inbox sets its callback`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.push(["group": "g"])
            _ = try await fixture.push(["_seal": "g", "callback": "https://x.org/done"] as KeyValuePairs)
            try await fixture.queue.runMaintenance()
            _ = try await fixture.queue.cancel([id])
            #expect(try await drain(fixture).map(\.url) == ["https://x.org/done"])
        }
    }

    @Test func `one receiver has two permits over all senders, and others have theirs`() async throws {
        try await QueueFixture.run { fixture in
            for host in ["slow.org", "slow.org", "slow.org", "quick.org", "Slow.org"] {
                _ = try await fixture.enqueue(["callback": "http://\(host)/"])
                _ = try await fixture.finish(try await fixture.claimOne(), .completed([]))
            }
            let first = try await fixture.queue.claimCallbacks(count: 16).sorted {
                $0.url.lowercased() > $1.url.lowercased()
            }
            #expect(first.map { $0.url.lowercased() } == ["http://slow.org/", "http://slow.org/", "http://quick.org/"])
            #expect(try await fixture.queue.claimCallbacks(count: 16).isEmpty)
            #expect(try await fixture.beat([]).hasCallbacks == false)
            _ = try await fixture.queue.finishCallback(first[0], .delivered(status: 204), after: .zero)
            #expect(try await fixture.queue.claimCallbacks(count: 16).count == 1)
            #expect(try await fixture.queue.claimCallbacks(count: 16).isEmpty)
        }
    }

    @Test func `the delivery of a lost sender is sent again under its id, and that sender's report is refused`()
        async throws
    {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue(["callback": "http://x.org/"])
            _ = try await fixture.finish(try await fixture.claimOne(), .completed([]))
            let first = try #require(try await fixture.queue.claimCallbacks(count: 1).first)
            let waiting = fixture.queue.keys.callbacks("x.org")
            _ = try await fixture.client.send(["ZADD", .text(waiting), "1", .text(first.id)])
            _ = try await fixture.client.send(["ZADD", .text(fixture.queue.keys.callbacks), "1", "x.org"])
            let second = try #require(try await fixture.queue.claimCallbacks(count: 1).first)
            #expect(second.id == first.id && second.attempt == 2)
            #expect(try await fixture.queue.finishCallback(first, .delivered(status: 200), after: .zero) == .stale)
            // Whatever it says when it tells again, because the answer was lost.
            for outcome: CallbackOutcome in [.delivered(status: 200), .refused("gone", status: 410)] {
                #expect(try await fixture.queue.finishCallback(second, outcome, after: .zero) == .delivered)
            }
            #expect(try await fixture.queue.finishCallback(first, .delivered(status: 200), after: .zero) == .stale)
            let record = try #require(try await fixture.queue.callbacks(of: .job(id)).first)
            #expect(record.state == .delivered && record.attempt == 2 && record.log.count == 2)
            #expect(record.log[0].message.contains("lost") && record.log[1].status == 200)
        }
    }

    @Test func `a sender whose answer was lost gets the same deliveries, and no attempt is charged`() async throws {
        try await QueueFixture.run { fixture in
            for _ in 1...3 {
                _ = try await fixture.enqueue(["callback": "http://x.org/"])
                _ = try await fixture.finish(try await fixture.claimOne(), .completed([]))
            }
            let lost = try await fixture.queue.claimCallbacks(count: 5, token: "t")
            let again = try await fixture.queue.claimCallbacks(count: 5, token: "t")
            #expect(lost.count == 2 && again.map(\.id) == lost.map(\.id) && again.allSatisfy { $0.attempt == 1 })
            let now = try await fixture.now()
            #expect(again.allSatisfy { abs($0.takenAt - now) <= 1 })
            _ = try await fixture.queue.finishCallback(again[0], .delivered(status: 200), after: .zero)
            #expect(try await fixture.queue.claimCallbacks(count: 5, token: "t").map(\.id) == [again[1].id])
            // Its try ended, and another's has begun.
            let outcome = CallbackOutcome.again("busy", status: 503, retryAfter: nil)
            let waits = try await fixture.queue.finishCallback(again[1], outcome, after: .zero)
            #expect(try await fixture.queue.redeliver([again[1].id]) == [.due])
            #expect(try await fixture.queue.claimCallbacks(count: 5).count == 2)
            #expect(try await fixture.queue.claimCallbacks(count: 5, token: "t").isEmpty)
            #expect(try await fixture.queue.finishCallback(again[1], outcome, after: .zero) == waits)
        }
    }

    @Test func `a value that JSON cannot express does not empty the body of a callback`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue(["callback": Self.url])
            let job = try await fixture.claimOne()
            let key = RedisArgument.text(fixture.queue.keys.job(id))
            _ = try await fixture.client.send(["HSET", key, "progress", "nan 1 inf 2 -"])
            _ = try await fixture.finish(job, .failed(Failure(.noAudio, "silent")))
            let callback = try #require(try await drain(fixture).first)
            #expect(try data(callback, fixture)["duration"] is NSNull)
            var report = QueueFixture.report
            report.duration = .nan
            var record = try await fixture.record(id)
            record.outputs = [report]
            let broken = Callback(
                id: "1", token: "t", attempt: 1, subject: .job(id), what: "job.completed", url: Self.url, at: 0,
                takenAt: 0, content: .job(record))
            #expect(throws: Failure.self) { try broken.body(queue: fixture.queue.name) }
        }
    }

    @Test func `a delivery waits ever longer, as long as the receiver asks, and gives up after 20 attempts`()
        async throws
    {
        try await QueueFixture.run { fixture in
            _ = try await fixture.enqueue(["callback": "http://x.org/"])
            _ = try await fixture.finish(try await fixture.claimOne(), .completed([]))
            var answers: [FinishCallbackAnswer] = []
            for attempt in 1...20 {
                let callback = try #require(try await fixture.queue.claimCallbacks(count: 1).first)
                #expect(callback.attempt == attempt)
                let outcome = CallbackOutcome.again("busy", status: 503, retryAfter: attempt == 3 ? 1234 : nil)
                let before = try await fixture.now()
                answers.append(try await fixture.queue.finishCallback(callback, outcome, after: .milliseconds(7)))
                guard case .waiting(let due) = answers.last else { continue }
                let ceiling = attempt == 3 ? 1234 : min(7200, 5 * Double(1 << (attempt - 1)))
                let wait = Double(due - before) / 1000
                #expect(wait <= ceiling + 10 && wait >= (attempt == 3 ? ceiling : ceiling / 2))
                #expect(try await fixture.queue.claimCallbacks(count: 1).isEmpty)
                #expect(try await fixture.queue.redeliver([callback.id]) == [.due])
                // What a person asks for has all tries again.
                _ = try await fixture.client.send([
                    "HSET", .text(fixture.queue.keys.callback(callback.id)), "attempt", .integer(Int64(attempt)),
                ])
            }
            #expect(answers.last == .failed && answers.filter { $0 == .failed }.count == 1)
            let record = try #require(try await fixture.queue.callbacks(limit: 5).first)
            #expect(record.state == .failed && record.log.count == 20 && record.log.allSatisfy { $0.took == 7 })
            #expect(try await fixture.queue.redeliver([record.id, "1-1"]) == [.due, .unknown])
            #expect(try await drain(fixture).map(\.id) == [record.id])
        }
    }

    @Test func `finished callbacks are kept up to a maximum, and those for a silent host as well`() async throws {
        var settings = QueueSettings()
        settings.called.count = 3
        try await QueueFixture.run(settings: settings) { fixture in
            for _ in 0..<8 {
                _ = try await fixture.enqueue(["callback": "http://x.org/"])
                _ = try await fixture.finish(try await fixture.claimOne(), .completed([]))
            }
            _ = try await drain(fixture)
            #expect(try await fixture.queue.callbacks(limit: 50).count == 3)
            let keys = try await fixture.client.send(["KEYS", .text(fixture.queue.keys.callback("*"))]).array
            #expect(keys?.count == 3)
            let full: RedisCommand = [
                "EVAL", "for i = 1, 100000 do redis.call('ZADD', KEYS[1], i, i) end", "1",
                .text(fixture.queue.keys.callbacks("full.org")),
            ]
            _ = try await fixture.client.send(full)
            let id = try await fixture.enqueue(["callback": "http://full.org/"])
            _ = try await fixture.finish(try await fixture.claimOne(), .completed([]))
            let record = try #require(try await fixture.queue.callbacks(of: .job(id)).first)
            #expect(record.state == .failed && record.log[0].message.contains("100000"))
            _ = try await fixture.client.send(["DEL", .text(fixture.queue.keys.callbacks("full.org"))])
        }
    }

    @Test func `callbacks beyond the maximum of one receiver are refused, and those within it delivered`() async throws
    {
        try await QueueFixture.run { fixture in
            let fill: RedisCommand = [
                "EVAL", "for i = 1, 10000 do redis.call('ZADD', KEYS[1], 1e15, 'r' .. i) end", "1",
                .text(fixture.queue.keys.callbacks),
            ]
            _ = try await fixture.client.send(fill)
            for (host, state) in [("new.org", CallbackRecord.State.failed), ("r7", .waiting)] {
                let id = try await fixture.enqueue(["callback": "http://\(host)/"])
                _ = try await fixture.finish(try await fixture.claimOne(), .completed([]))
                let record = try #require(try await fixture.queue.callbacks(of: .job(id)).first)
                #expect(record.state == state)
                if state == .failed { #expect(record.log.first?.message.contains("10000 receivers") == true) }
            }
            #expect(try await drain(fixture).map(\.url) == ["http://r7/"])
            let rest: RedisCommand = ["ZREMRANGEBYSCORE", .text(fixture.queue.keys.callbacks), "1e15", "1e15"]
            _ = try await fixture.client.send(rest)
        }
    }
}
