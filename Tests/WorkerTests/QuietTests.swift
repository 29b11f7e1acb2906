import Jobs
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct QuietTests {
    @Test func `a quiet worker finishes its job, claims no more, and claims again when it is told to`() async throws {
        let shop = try await Workshop()
        let server = try await SlowServer()
        let worker = try await shop.worker()
        let id = try await shop.push(["source": "\(server.url)/held", "format": "mp3"])
        try await shop.isConverting(id)
        let name = try #require(try await shop.queue.workers().first?.name)
        #expect(try await shop.queue.setQuiet(true, worker: name) == name)
        try await worker.logs("quiet: claiming no more jobs")
        let late = try await shop.push(["source": "\(server.url)/quick", "format": "mp3"])
        try await server.release()
        try await shop.job(id, reaches: .completed)
        // Several beats, each of which would let the job start.
        try await eventually("the worker is idle") {
            try await shop.queue.workers().first?.jobs == []
        }
        try await shop.queue.runMaintenance()
        #expect(try await shop.job(late)?.state == .waiting)
        #expect(try await shop.queue.claim(count: 0, worker: "host:1:abc").jobs.isEmpty)
        _ = try await shop.queue.setQuiet(false, worker: name)
        try await shop.job(late, reaches: .completed)
        worker.kill(15)
        #expect(await worker.wait().exitCode == 0)
    }

    @Test func `what one queue of a worker is told holds for all of them`() async throws {
        let shop = try await Workshop()
        let other = try shop.queue("other")
        let worker = try await shop.worker(["RESPOOL_QUEUE": "default,other"])
        try await eventually("both queues have the worker") {
            let counts = (try await shop.queue.workers().count, try await other.workers().count)
            return counts == (1, 1)
        }
        let name = try #require(try await shop.queue.workers().first?.name)
        #expect(try await shop.queue.setQuiet(true, worker: name) == name)
        try await worker.logs("quiet: claiming no more jobs")
        try await eventually("the other queue says so") {
            try await other.workers().first?.isQuiet == true
        }
        #expect(try await other.setQuiet(false, worker: name) == name)
        try await worker.logs("claiming jobs again")
        try await eventually("the first queue says so") {
            try await shop.queue.workers().first?.isQuiet == false
        }
        worker.kill(15)
        #expect(await worker.wait().exitCode == 0)
    }
}
