import Foundation
import Glibc
import Jobs
import TestSupport
import Testing

/// A host that cannot run jobs for a time: the worker takes none, says why, and charges none.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct UnavailableHostTests {
    private let folder: TemporaryFolder
    private let mark: String
    private let port: Int

    init() throws {
        folder = try TemporaryFolder()
        mark = folder.file("mark")
        port = Int(try LoopbackPort.free())
    }

    private func worker(
        _ shop: Workshop, preloading source: String, _ options: [String] = [], with settings: [String: String] = [:]
    ) async throws -> ChildProcess {
        let library = folder.file("host.so")
        try await CompiledProgram.make(library, of: source, ["-shared", "-fPIC", "-DMARK=\"\(mark)\""] + options)
        let own = [
            "LD_PRELOAD": library, "RESPOOL_LISTEN": "127.0.0.1:\(port)", "RESPOOL_FOLDER_TIMEOUT": "1",
        ]
        return try await shop.worker(own.merging(settings) { $1 })
    }

    private func answer(_ path: String) async throws -> String {
        try await ChildProcess.run("curl", ["-s", "-w", " %{http_code}", "http://127.0.0.1:\(port)/\(path)"]).output
    }

    private func waitsUncharged(_ id: String, in shop: Workshop) async throws {
        try await eventually("\(id) waits uncharged") {
            let job = try await shop.job(id)
            return job?.state == .waiting && job?.attempt == 0 && job?.crashes == 0
        }
    }

    @Test(arguments: ["in", "out", "spool"])
    func `a folder whose file system does not respond makes the worker not ready, and its jobs wait`(
        name: String
    ) async throws {
        let (shop, server) = (try await Workshop(), try await SlowServer())
        let hung = shop.path(of: name)
        let worker = try await worker(shop, preloading: "hung-folder.c", ["-DHUNG=\"\(hung)\""])
        try await eventually("ready") { try await answer("readyz").hasSuffix(" 200") }
        let running = try await shop.push(["source": "\(server.url)/slow", "format": "flac", "attempts": "1"])
        try await shop.isConverting(running)

        try folder.write("mark", text: "")
        try await worker.logs("no jobs are claimed")
        try await waitsUncharged(running, in: shop)
        _ = try await shop.queue.cancel([running])
        let source = try shop.source("a.wav", Sounds.ramp(samples: 441))
        let next = try await shop.push(["source": source, "format": "flac", "attempts": "1"])
        let readiness = try await answer("readyz")
        #expect(readiness.contains("'\(hung)' does not respond") && readiness.hasSuffix(" 503"), "\(readiness)")
        #expect(try await answer("healthz").hasSuffix(" 200"))
        #expect(try await answer("metrics").hasSuffix(" 200"))

        try FileManager.default.removeItem(atPath: mark)
        #expect(try await shop.job(next, reaches: .completed).attempt == 1)
        try await eventually("ready again") { try await answer("readyz").hasSuffix(" 200") }
    }

    @Test func `a worker whose spool does not respond when it starts ends, and names the folder`() async throws {
        let shop = try await Workshop()
        let (library, hung) = (folder.file("host.so"), shop.path(of: "spool"))
        let options = ["-shared", "-fPIC", "-DMARK=\"\(mark)\"", "-DHUNG=\"\(hung)\""]
        try await CompiledProgram.make(library, of: "hung-folder.c", options)
        try folder.write("mark", text: "")
        let outcome = try await ChildProcess.run(
            Programs.path("respoold"), ["worker"],
            environment: shop.environment.merging(["LD_PRELOAD": library, "RESPOOL_FOLDER_TIMEOUT": "1"]) { $1 })
        #expect(outcome.exitCode == 1 && outcome.errors.contains("'\(hung)' does not respond"), "\(outcome.errors)")
    }

    @Test func `a callback for which no child can be started is sent later, and that is no attempt`() async throws {
        let (shop, receiver) = (try await Workshop(), try await CallbackReceiver())
        let worker = try await worker(
            shop, preloading: "no-processes.c", with: ["RESPOOL_CALLBACK_SECRET": CallbackReceiver.secret])
        try await eventually("ready") { try await answer("readyz").hasSuffix(" 200") }
        try folder.write("mark", text: "")
        let source = try shop.source("a.wav", Sounds.ramp(samples: 441))
        let id = try await shop.push(["source": source, "format": "flac", "callback": receiver.url("ok")])
        try await worker.logs("callback released")
        #expect(receiver.requests.isEmpty)
        try FileManager.default.removeItem(atPath: mark)
        try await eventually("the callback is delivered") {
            try await shop.queue.callbacks(of: .job(id)).first?.state == .delivered
        }
        let record = try #require(try await shop.queue.callbacks(of: .job(id)).first)
        #expect(record.attempt == 1 && record.log.map(\.status) == [200], "\(record)")
    }

    @Test func `a job whose child processes cannot be started waits uncharged, and the worker is not ready`()
        async throws
    {
        let shop = try await Workshop()
        let worker = try await worker(shop, preloading: "no-processes.c")
        let source = try shop.source("a.wav", Sounds.ramp(samples: 441))
        try folder.write("mark", text: "")
        for pid in try await worker.children("respool-transfer") {
            kill(pid, SIGKILL)
            try await hasEnded(pid)
        }
        let id = try await shop.push(["source": source, "format": "flac", "attempts": "1"])
        try await worker.logs("no jobs are claimed")
        try await waitsUncharged(id, in: shop)
        try await eventually("not ready") {
            let readiness = try await answer("readyz")
            return readiness.contains("cannot start the children") && readiness.hasSuffix(" 503")
        }
        try FileManager.default.removeItem(atPath: mark)
        #expect(try await shop.job(id, reaches: .completed).attempt == 1)
        try await eventually("ready again") { try await answer("readyz").hasSuffix(" 200") }
    }
}
