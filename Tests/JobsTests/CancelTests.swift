import JobSchema
import Jobs
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct CancelTests {
    @Test func `a waiting, parked or delayed job is cancelled at once`() async throws {
        try await QueueFixture.run { fixture in
            let delayed = try await fixture.enqueue(["delay": "60"])
            let waiting = try await fixture.enqueue()
            let queued = try await fixture.push()
            let kept = try await fixture.push()
            let answers = try await fixture.queue.cancel([
                queued, waiting, delayed, "1-1", "nonsense", "99999999999999999999-1",
            ])
            #expect(answers == [.cancelled, .cancelled, .cancelled, .unknown, .unknown, .unknown])
            for id in [queued, waiting, delayed] { #expect(try await fixture.state(id) == .cancelled) }
            #expect(try await fixture.queue.cancel([queued]) == [.tooLate(.cancelled)])
            #expect(try await fixture.claim(5).map(\.id) == [kept])
        }
    }

    @Test func `the worker of a running job learns of its cancellation with the next heartbeat`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            let job = try await fixture.claimOne()
            #expect(try await fixture.queue.cancel([id]) == [.requested])
            #expect(try await fixture.queue.cancel([id]) == [.requested])
            #expect(try await fixture.beat([job]).replies == [id: .cancel])
            #expect(
                try await fixture.queue.publish(id: id, token: job.token, record: QueueFixture.commit) == .cancelled)
            #expect(try await fixture.finish(job, .cancelled) == .acknowledged(.cancelled, retryAt: nil))
            #expect(try await fixture.record(id).outputs == nil)
        }
    }

    static let outcomes: [Jobs.Outcome] = [
        .completed([QueueFixture.report]), .failed(Failure(.timeout, "x")), .failed(Failure(.noAudio, "x")),
        .crashed(Failure(.crashed, "x")), .cancelled, .released,
    ]

    @Test(arguments: outcomes)
    func `a job with a pending cancellation ends as cancelled, whatever its worker reports`(_ outcome: Jobs.Outcome)
        async throws
    {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            let job = try await fixture.claimOne()
            _ = try await fixture.queue.cancel([id])
            #expect(try await fixture.finish(job, outcome) == .acknowledged(.cancelled, retryAt: nil))
            #expect(try await fixture.finish(job, outcome) == .acknowledged(.cancelled, retryAt: nil))
            #expect(try await fixture.state(id) == .cancelled)
        }
    }

    @Test func `a job with a pending cancellation ends as cancelled when its lease expires`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            _ = try await fixture.claimOne()
            _ = try await fixture.queue.cancel([id])
            try await fixture.endLeases()
            #expect(try await fixture.claim().isEmpty)
            #expect(try await fixture.state(id) == .cancelled)
        }
    }

    @Test func `a cancellation is too late for a job that publishes or has finished`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            let job = try await fixture.claimOne()
            _ = try await fixture.queue.publish(id: id, token: job.token, record: QueueFixture.commit)
            #expect(try await fixture.queue.cancel([id]) == [.tooLate(.running)])
            #expect(try await fixture.beat([job]).replies == [id: .ok])
            _ = try await fixture.finish(job, .completed([QueueFixture.report]))
            #expect(try await fixture.queue.cancel([id]) == [.tooLate(.completed)])
        }
    }

    @Test func `a long list of jobs is cancelled in several scripts`() async throws {
        try await QueueFixture.run { fixture in
            let ids = try await fixture.queue.enqueue(Array(repeating: QueueFixture.job, count: 1100)).map(\.id)
            let answers = try await fixture.queue.cancel(ids)
            #expect(answers.count == 1100 && answers.allSatisfy { $0 == .cancelled })
            #expect(try await fixture.queue.stats()[.waiting] == 0)
        }
    }
}
