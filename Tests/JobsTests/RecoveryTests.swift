import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

/// A job whose worker was lost while its result became visible: the next owner looks for the result before anything else.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct RecoveryTests {
    /// Loses so many owners of the job while they publish.
    private func lose(_ owners: Int, of id: String, _ fixture: QueueFixture) async throws {
        for crashes in 0..<owners {
            let job = try await fixture.claimOne()
            #expect(job.id == id && job.crashes == crashes)
            #expect(try await fixture.queue.publish(id: id, token: job.token, record: QueueFixture.commit) == .ok)
            try await fixture.endLeases()
            _ = try await fixture.beat([])
        }
    }

    @Test func `the result of a job that was lost for the third time completes it`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue(["callback": "http://x.org/"])
            try await lose(3, of: id, fixture)
            #expect(try await fixture.state(id) == .waiting)
            let job = try await fixture.claimOne()
            #expect(job.commit == QueueFixture.commit && job.crashes == 3)
            let answer = try await fixture.finish(job, .completed([QueueFixture.report]))
            #expect(answer == .acknowledged(.completed, retryAt: nil))
            #expect(try await fixture.queue.callbacks(limit: 5).map(\.what) == ["job.completed"])
        }
    }

    @Test func `the result of a cancelled job whose worker was lost completes it`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            try await lose(1, of: id, fixture)
            #expect(try await fixture.queue.cancel([id]) == [.requested])
            #expect(try await fixture.state(id) == .waiting)
            let job = try await fixture.claimOne()
            #expect(job.commit == QueueFixture.commit)
            #expect(try await fixture.queue.cancel([id]) == [.requested])
            #expect(try await fixture.beat([job]).replies == [id: .ok])
            let answer = try await fixture.finish(job, .completed([QueueFixture.report]))
            #expect(answer == .acknowledged(.completed, retryAt: nil))
        }
    }

    @Test func `a job without a visible result goes on, or ends as it was to`() async throws {
        try await QueueFixture.run { fixture in
            for (owners, isCancelled) in [(1, false), (1, true), (3, false), (5, true)] {
                let id = try await fixture.enqueue(["group": "g"])
                try await lose(owners, of: id, fixture)
                if isCancelled { #expect(try await fixture.queue.cancel([id]) == [.requested]) }
                let job = try await fixture.claimOne()
                #expect(job.commit != nil)
                #expect(try await fixture.queue.recover(id: id, token: "9:x") == .stale)
                let answer: RecoveryAnswer = isCancelled ? .cancelled : owners == 3 ? .crashed : .ok
                for _ in 1...2 { #expect(try await fixture.queue.recover(id: id, token: job.token) == answer) }
                let end: FinishAnswer = try await fixture.finish(job, .failed(Failure(.crashed, "x")))
                switch answer {
                case .cancelled: #expect(end == .acknowledged(.cancelled, retryAt: nil))
                case .crashed:
                    #expect(end == .acknowledged(.failed, retryAt: nil))
                    let record = try await fixture.record(id)
                    #expect(record.error?.code == .crashed && record.attempt == 0 && record.crashes == 3)
                default:
                    guard case .acknowledged(.delayed, _) = end else { Issue.record("\(end)"); continue }
                    try await fixture.makeDue()
                    let next = try await fixture.claimOne()
                    #expect(next.commit == nil)
                    #expect(try await fixture.queue.cancel([id]) == [.requested])
                    #expect(try await fixture.beat([next]).replies == [id: .cancel])
                    _ = try await fixture.finish(next, .cancelled)
                }
            }
        }
    }

    @Test func `a job that loses owner after owner during recovery fails at its crash limit`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            try await lose(1, of: id, fixture)
            for crashes in 1..<6 {
                #expect(try await fixture.claimOne().crashes == crashes)
                try await fixture.endLeases()
            }
            #expect(try await fixture.claim().isEmpty)
            let record = try await fixture.record(id)
            #expect(record.state == .failed && record.error?.code == .crashed && record.crashes == 6)
        }
    }

    @Test func `a late duplicate of a recovery leaves the next commit record alone`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            try await lose(1, of: id, fixture)
            let job = try await fixture.claimOne()
            #expect(try await fixture.queue.recover(id: id, token: job.token) == .ok)
            #expect(try await fixture.queue.publish(id: id, token: job.token, record: QueueFixture.commit) == .ok)
            _ = try await fixture.queue.recover(id: id, token: job.token)
            try await fixture.endLeases()
            #expect(try await fixture.claimOne().commit == QueueFixture.commit)
        }
    }

    @Test func `a cancelled job whose process died while it published is recovered without delay`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            let job = try await fixture.claimOne()
            _ = try await fixture.queue.publish(id: id, token: job.token, record: QueueFixture.commit)
            _ = try await fixture.finish(job, .crashed(Failure(.crashed, "signal 11")))
            #expect(try await fixture.state(id) == .delayed)
            #expect(try await fixture.queue.cancel([id]) == [.requested])
            #expect(try await fixture.claimOne().commit == QueueFixture.commit)
        }
    }
}
