import JobSchema
import Jobs
import Lifecycle
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct FailureTests {
    private let broken = Failure(.sourceUnreachable, "no route")

    @Test func `a failed job runs again with a growing delay until its attempts are spent`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue(["attempts": "3"])
            for attempt in 1...3 {
                let job = try await fixture.claimOne()
                #expect(job.attempt == attempt && job.attempts == 3)
                let before = try await fixture.now()
                switch try await fixture.finish(job, .failed(broken)) {
                case .acknowledged(.delayed, let due?):
                    #expect(attempt < 3)
                    #expect((before...before + 2000 << (attempt - 1) + 1).contains(due))
                case .acknowledged(.failed, nil): #expect(attempt == 3)
                case let answer: Issue.record("\(answer)")
                }
                try await fixture.makeDue()
            }
            let record = try await fixture.record(id)
            #expect(record.state == .failed && record.attempt == 3)
            #expect(record.error?.code == .sourceUnreachable && record.error?.message == "no route")
            #expect(record.error?.retryable == true)
        }
    }

    @Test func `the delays are spread evenly up to the ceiling`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await fixture.queue.enqueue(Array(repeating: QueueFixture.job, count: 60))
            var waits: [Int64] = []
            for job in try await fixture.claim(60) {
                let before = try await fixture.now()
                guard case .acknowledged(_, let due?) = try await fixture.finish(job, .failed(broken)) else { continue }
                waits.append(due - before)
                #expect((0...2001).contains(due - before))
            }
            #expect(waits.count == 60)
            #expect(waits.contains { $0 < 1000 } && waits.contains { $0 > 1000 })
        }
    }

    @Test func `a delay is capped at ten minutes, and one that a server asks for at an hour`() async throws {
        var settings = QueueSettings()
        settings.backoff = Backoff(base: .seconds(500), cap: .seconds(600))
        try await QueueFixture.run(settings: settings) { fixture in
            _ = try await fixture.enqueue(["attempts": "100"])
            for attempt in 1...4 {
                let job = try await fixture.claimOne()
                let before = try await fixture.now()
                let wait: Double? = attempt == 3 ? 90.5 : attempt == 4 ? 7200 : nil
                let failure = Failure(.sourceUnreachable, "503", retryAfter: wait)
                let answer = try await fixture.finish(job, .failed(failure))
                guard case .acknowledged(.delayed, let due?) = answer else { Issue.record("\(answer)"); return }
                let expected: ClosedRange<Int64> =
                    switch attempt {
                    case 3: 90_500...90_501
                    case 4: 3_600_000...3_600_001
                    default: 0...600_001
                    }
                #expect(expected.contains(due - before))
                try await fixture.makeDue()
            }
        }
    }

    @Test func `a failure that is not retryable fails the job at once`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            let job = try await fixture.claimOne()
            let failure = Failure(.corruptMedia, String(repeating: "ä", count: 1000))
            #expect(try await fixture.finish(job, .failed(failure)) == .acknowledged(.failed, retryAt: nil))
            let record = try await fixture.record(id)
            #expect(record.error?.message == String(repeating: "ä", count: 512) && record.error?.retryable == false)
        }
    }

    @Test func `a lost lease counts as a crash, costs no attempt, keeps the job's place, and stops at the limit`()
        async throws
    {
        try await QueueFixture.run { fixture in
            let first = try await fixture.enqueue()
            let second = try await fixture.enqueue()
            for crashes in 0..<3 {
                let job = try await fixture.claimOne()
                #expect(job.id == first && job.attempt == 1 && job.crashes == crashes)
                try await fixture.endLeases()
            }
            #expect(try await fixture.claimOne().id == second)
            let record = try await fixture.record(first)
            #expect(record.state == .failed && record.crashes == 3 && record.attempt == 0)
            #expect(record.error?.code == .crashed)
        }
    }

    @Test(arguments: [1, 3])
    func `a lost worker leaves a line in the job's log, and the reaping worker is notified`(_ maxCrashes: Int)
        async throws
    {
        var settings = QueueSettings()
        settings.maxCrashes = maxCrashes
        try await QueueFixture.run(settings: settings) { fixture in
            let id = try await fixture.enqueue(["attempts": "4"])
            let state: JobState = maxCrashes == 1 ? .failed : .waiting
            _ = try await fixture.queue.claim(count: 1, worker: "node:7:abc")
            try await fixture.endLeases()
            let before = try await fixture.now()
            let leases = try await fixture.beat([]).lostLeases
            #expect(leases == [LostLease(job: id, attempt: 1, worker: "node:7", state: state)])
            let line = try #require(try await fixture.queue.log(id).first)
            let text = "attempt 1 of 4 lost: no heartbeat from worker node:7 before its lease of 10 s expired"
            let time = line.dropLast(text.utf8.count + 1)
            #expect(line == "\(time) \(text)")
            let times = [before, before + 1].map { WallClock.timestamp(milliseconds: $0) }
            #expect(times.contains(String(time)))
            guard state == .waiting else { return }
            _ = try await fixture.claimOne()
            try await fixture.endLeases()
            #expect(try await fixture.queue.claim(count: 1, worker: "x").lostLeases.map(\.attempt) == [1])
            try await fixture.endLeases()
            #expect(try await fixture.queue.runMaintenance().map(\.state) == [.failed])
            #expect(try await fixture.queue.log(id).count == 3)
        }
    }

    @Test func `a job whose process died is delayed by its number of crashes, and fails at the limit`() async throws {
        var settings = QueueSettings()
        settings.maxCrashes = 2
        try await QueueFixture.run(settings: settings) { fixture in
            let id = try await fixture.enqueue()
            let death = Failure(.crashed, "transcode died: signal 11")
            let first = try await fixture.claimOne()
            let answer = try await fixture.finish(first, .crashed(death), log: ["libav: boom"])
            guard case .acknowledged(.delayed, .some) = answer else { Issue.record("\(answer)"); return }
            #expect(try await fixture.finish(first, .crashed(death)) == answer)
            var record = try await fixture.record(id)
            #expect(record.attempt == 0 && record.crashes == 1 && record.error?.message == death.message)
            try await fixture.makeDue()
            let second = try await fixture.claimOne()
            #expect(second.attempt == 1 && second.crashes == 1)
            #expect(try await fixture.finish(second, .crashed(death)) == .acknowledged(.failed, retryAt: nil))
            record = try await fixture.record(id)
            #expect(record.state == .failed && record.error?.code == .crashed)
            #expect(try await fixture.queue.log(id) == ["libav: boom"])
        }
    }

    @Test func `a released job is charged nothing and keeps its place`() async throws {
        try await QueueFixture.run { fixture in
            let first = try await fixture.enqueue()
            _ = try await fixture.enqueue()
            let job = try await fixture.claimOne()
            #expect(try await fixture.finish(job, .released) == .acknowledged(.waiting, retryAt: nil))
            let record = try await fixture.record(first)
            #expect(record.attempt == 0 && record.crashes == 0 && record.worker == nil && record.progress == nil)
            let again = try await fixture.claimOne()
            #expect(again.id == first && again.attempt == 1)
        }
    }

    @Test func `a completed job has no failure left`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            _ = try await fixture.finish(try await fixture.claimOne(), .failed(broken))
            #expect(try await fixture.record(id).error == broken)
            try await fixture.makeDue()
            _ = try await fixture.finish(try await fixture.claimOne(), .completed([QueueFixture.report]))
            #expect(try await fixture.record(id).error == nil)
        }
    }

    @Test func `the log keeps what every attempt has left, and drops whole lines if there is no room`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            for number in 1...3 {
                let lines = (0..<4).map { "\(number).\($0) " + String(repeating: "é", count: 500) }
                _ = try await fixture.finish(try await fixture.claimOne(), .failed(broken), log: lines)
                let kept = try await fixture.queue.log(id)
                let all = (1...number).flatMap { number in (0..<4).map { "\(number).\($0)" } }
                #expect(kept.map { String($0.prefix(3)) } == all.suffix(8))
                try await fixture.makeDue()
            }
        }
    }

    @Test func `only the end of a long log is kept`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            let lines = (0..<80).map { "\($0) " + String(repeating: "x", count: 100) }
            _ = try await fixture.finish(try await fixture.claimOne(), .completed([]), log: lines)
            #expect(try await fixture.queue.log(id) == Array(lines.suffix(50)))
            let other = try await fixture.enqueue()
            let long = (0..<20).map { "\($0) " + String(repeating: "é", count: 2000) }
            _ = try await fixture.finish(try await fixture.claimOne(), .completed([]), log: long)
            let kept = try await fixture.queue.log(other)
            #expect(kept.joined(separator: "\n").utf8.count <= 8192 && kept.last?.hasPrefix("19 é") == true)
        }
    }
}
