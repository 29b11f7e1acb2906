import Foundation
import Glibc
import JobSchema
import Jobs
import MediaTypes
import Redis
import TestSupport
import Testing

/// Jobs that a worker claims ahead, to fetch their sources while it converts others.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct PrefetchTests {
    /// A worker that converts a job for as long as the test takes, and fetches the sources of others.
    private struct Busy {
        let shop: Workshop
        let server: SlowServer
        let worker: ChildProcess
        /// The job that is converted.
        let running: String

        init(prefetch: Int, _ environment: [String: String] = [:]) async throws {
            shop = try await Workshop()
            server = try await SlowServer()
            worker = try await shop.worker(
                ["RESPOOL_PREFETCH": "\(prefetch)", "RESPOOL_PREFETCH_RESERVE": "0"].merging(environment) { $1 })
            running = try await shop.push(["source": "\(server.url)/slow", "format": "wav"])
            try await shop.isConverting(running)
        }

        func push(_ path: String, _ fields: [String: String] = [:]) async throws -> String {
            let fields = fields.merging(["source": server.url + path, "format": "wav"]) { $1 }
            return try await shop.queue.enqueue([fields])[0].id
        }

        /// Waits until the source is fetched of a job that was claimed ahead, and a beat has told so.
        func isFetching(_ id: String, _ path: String) async throws {
            try await eventually("job \(id) is fetched ahead", every: .milliseconds(20)) {
                let job = try await shop.job(id)
                return server.requests.contains(path) && job?.state == .running && job?.phase == .waiting
            }
        }

        /// Whether a job has been given back uncharged.
        func isReleased(_ id: String) async throws -> Bool {
            let job = try await shop.job(id)
            return job?.state == .waiting && job?.attempt == 0 && job?.crashes == 0
        }

        func isStillRunning() async throws -> Bool { try await shop.job(running)?.phase == .converting }

        func endRunning() async throws { #expect(try await shop.queue.cancel([running]) == [.requested]) }
    }

    @Test func `sources of as many jobs are fetched, and their time begins with their conversion`() async throws {
        let port = try LoopbackPort.free()
        let busy = try await Busy(prefetch: 2, ["RESPOOL_LISTEN": "\(port)"])
        try await busy.shop.queue.setLimit(1, key: "k")
        let limited = try await busy.push("/quick?1", ["limit_key": "k", "timeout": "12"])
        let parked = try await busy.push("/quick?2", ["limit_key": "k"])
        let missing = try await busy.push("/missing")
        let further = try await busy.push("/quick?3")
        try await busy.isFetching(limited, "/quick?1")
        try await busy.isFetching(missing, "/missing")
        #expect(try await busy.shop.job(parked)?.isParked == true)
        #expect(try await busy.shop.job(further)?.state == .waiting)
        let metrics = try await ChildProcess.run("curl", ["-sS", "http://127.0.0.1:\(port)/metrics"]).output
        #expect(metrics.contains("\nrespool_jobs_prefetched 2\n") && metrics.contains("\nrespool_jobs_running 1\n"))
        // Longer than its timeout.
        try await Task.sleep(for: .seconds(12.1))
        #expect(try await busy.isStillRunning())
        try await busy.endRunning()
        for id in [limited, parked, further] { try await busy.shop.job(id, reaches: .completed) }
        #expect(try await busy.shop.job(missing, reaches: .failed).error?.code == .sourceNotFound)
        #expect(busy.server.requests.sorted() == ["/missing", "/quick?1", "/quick?2", "/quick?3", "/slow"])
    }

    @Test func `a drain releases jobs that have not begun at once and uncharged`() async throws {
        let busy = try await Busy(prefetch: 2, ["RESPOOL_GRACE": "120"])
        let fetched = try await busy.push("/quick")
        let fetching = try await busy.push("/drip")
        try await busy.isFetching(fetched, "/quick")
        try await busy.isFetching(fetching, "/drip")
        busy.worker.kill(SIGTERM)
        try await eventually("both are released") {
            guard try await busy.isReleased(fetched) else { return false }
            return try await busy.isReleased(fetching)
        }
        #expect(try await busy.isStillRunning())
        busy.worker.kill(SIGTERM)
        await busy.worker.wait()
    }

    @Test func `a job is released uncharged for one of a higher priority, which is converted first`() async throws {
        let busy = try await Busy(prefetch: 2)
        let normal = try await busy.push("/quick?normal")
        let low = try await busy.push("/drip?low", ["priority": "low"])
        try await busy.isFetching(normal, "/quick?normal")
        try await busy.isFetching(low, "/drip?low")
        let high = try await busy.push("/quick?high", ["priority": "high"])
        try await busy.isFetching(high, "/quick?high")
        #expect(try await busy.isReleased(low))
        #expect(try await busy.isStillRunning())
        // Another one takes the place of the normal job, and not that of the first.
        let late = try await busy.push("/quick?late", ["priority": "high"])
        try await eventually("the normal job is released too") {
            try await busy.isReleased(normal)
        }
        try await busy.isFetching(late, "/quick?late")
        try await busy.endRunning()
        for id in [high, late, normal] { try await busy.shop.job(id, reaches: .completed) }
        let ends = try await busy.shop.queue.jobs([high, normal]).map { $0?.finishedAt ?? 0 }
        #expect(ends[0] < ends[1], "\(ends)")
    }

    @Test func `a job that has not begun is cancelled at once, and its children fetch for the next`() async throws {
        let busy = try await Busy(prefetch: 1)
        let fetching = try await busy.push("/drip?1")
        try await busy.isFetching(fetching, "/drip?1")
        let children = try await busy.worker.children("respool-tr")
        #expect(try await busy.shop.queue.cancel([fetching]) == [.requested])
        try await busy.shop.job(fetching, reaches: .cancelled)
        let next = try await busy.push("/drip?2")
        try await busy.isFetching(next, "/drip?2")
        #expect(try await busy.worker.children("respool-tr") == children)
        // Another worker has taken it.
        _ = try await busy.shop.client.send([
            "HSET", .text(busy.shop.queue.keys.job(next)), "token", "9:other",
        ])
        try await busy.worker.logs("discarded: the lease is lost")
        #expect(try await busy.isStillRunning())
    }

    @Test func `jobs that were claimed ahead do not begin in a paused queue`() async throws {
        let busy = try await Busy(prefetch: 1)
        let fetched = try await busy.push("/quick")
        try await busy.isFetching(fetched, "/quick")
        try await busy.shop.queue.pause()
        try await busy.endRunning()
        try await eventually("it is released") { try await busy.isReleased(fetched) }
        try await busy.shop.queue.resume()
        try await busy.shop.job(fetched, reaches: .completed)
    }

    @Test func `no job is claimed ahead while the spool has too little space`() async throws {
        let busy = try await Busy(prefetch: 1, ["RESPOOL_PREFETCH_RESERVE": "\(1 << 50)"])
        try await busy.worker.logs("no sources are fetched ahead")
        let id = try await busy.push("/quick")
        let progress = try await busy.shop.job(busy.running)?.position
        try await eventually("two beats pass") {
            try await busy.shop.job(busy.running)?.position ?? 0 > (progress ?? 0) + 3
        }
        #expect(try await busy.shop.job(id)?.state == .waiting)
        #expect(busy.server.requests == ["/slow"])
        try await busy.endRunning()
        try await busy.shop.job(id, reaches: .completed)
    }
}
