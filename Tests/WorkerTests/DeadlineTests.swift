import JobSchema
import Jobs
import TestSupport
import Testing

/// Jobs whose time is over while they run.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct DeadlineTests {
    @Test func `a conversion ends at the job's deadline and leaves nothing`() async throws {
        let shop = try await Workshop()
        let server = try await SlowServer()
        let worker = try await shop.worker()
        // The second is for a machine that stood still before the worker could begin the first.
        var job: JobRecord
        var deadlines = ["3", "20"]
        repeat {
            let id = try await shop.push([
                "source": "\(server.url)/slow", "format": "mp3", "deadline": .init(deadlines.removeFirst()),
            ])
            job = try await shop.job(id, reaches: .failed)
        } while job.attempt == 0 && !deadlines.isEmpty
        #expect(job.error == Failure(.expired, JobSpec.lateness, retryable: false) && job.attempt == 1)
        #expect(shop.outputs.isEmpty)
        try await worker.logs("failed: \(JobSpec.lateness)")
    }
}
