import Foundation
import Jobs
import Lifecycle
import TestSupport
import Testing

/// Folders of jobs that are replaced, or go away, while a worker runs.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct LostFolderTests {
    private func source(_ folder: String, _ shop: Workshop, _ server: SlowServer) throws -> String {
        folder == "spool" ? "\(server.url)/quick" : try shop.source("a.wav", Sounds.ramp(samples: 441))
    }

    @Test(arguments: ["in", "out", "spool"])
    func `a folder that was replaced is used from the next job on`(folder: String) async throws {
        let (shop, server) = (try await Workshop(), try await SlowServer())
        let source = try source(folder, shop, server)
        let worker = try await shop.worker()
        _ = try await shop.job(try await shop.push(["source": source, "format": "flac"]), reaches: .completed)
        try shop.renameFolder(folder, to: "former")
        try shop.createFolder(folder, from: "former")
        let id = try await shop.push(["source": source, "format": "flac", "output": "b.flac", "attempts": "1"])
        let job = try await shop.job(id, reaches: .completed)
        #expect(job.attempt == 1 && job.crashes == 0)
        #expect(shop.outputs.contains("b.flac"))
        _ = worker
    }

    @Test(arguments: ["in", "out", "spool"])
    func `a worker without a folder is not ready, and its jobs wait uncharged`(folder: String) async throws {
        let (shop, server) = (try await Workshop(), try await SlowServer())
        let source = try source(folder, shop, server)
        let port = try LoopbackPort.free()
        let worker = try await shop.worker(["RESPOOL_LISTEN": "127.0.0.1:\(port)"])
        func readiness() async throws -> String {
            let words = ["-s", "-w", " %{http_code}", "http://127.0.0.1:\(port)/readyz"]
            return try await ChildProcess.run("curl", words).output
        }
        try await eventually("ready") { try await readiness().hasSuffix(" 200") }
        try shop.renameFolder(folder, to: "former")
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await shop.push([
                        "source": source, "format": "flac", "output": "\(number).flac", "attempts": "1",
                    ])
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try await worker.logs("no jobs are claimed")
        try await eventually("not ready") { try await readiness().hasSuffix(" 503") }
        #expect(try await readiness().contains("RESPOOL_"))
        try await eventually("all jobs wait uncharged") {
            try await shop.queue.jobs(ids).allSatisfy { $0?.state == .waiting && $0?.attempt == 0 && $0?.crashes == 0 }
        }
        try shop.createFolder(folder, from: "former")
        for id in ids {
            let job = try await shop.job(id, reaches: .completed)
            #expect(job.attempt == 1 && job.crashes == 0)
        }
        try await eventually("ready again") { try await readiness().hasSuffix(" 200") }
    }
}
