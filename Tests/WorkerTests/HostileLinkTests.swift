import Foundation
import Glibc
import JobSchema
import Jobs
import TestSupport
import Testing

/// The real `respool-transcode` under a real worker, with code in it that abuses what it has of `respool-transfer`.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct HostileLinkTests {
    private let folder: TemporaryFolder
    private let shop: Workshop

    init() async throws {
        folder = try TemporaryFolder()
        shop = try await Workshop()
        try await CompiledProgram.make(
            folder.file("hook.so"), of: "hostile-link.c", ["-shared", "-fPIC"])
        try await folder.copy(ofProgram: "respoold")
        symlink(Programs.path("respool-transfer"), folder.file("respool-transfer"))
    }

    /// A worker whose transcoder does this attack in each of its jobs.
    private func worker(_ attack: String, _ environment: [String: String] = [:]) async throws -> ChildProcess {
        try await folder.script(
            "respool-transcode",
            "ATTACK=\(attack) LD_PRELOAD=\(folder.file("hook.so")) exec \(Programs.path("respool-transcode")) \"$@\"")
        let own = ["RESPOOL_MAX_CRASHES": "1", "RESPOOL_SANDBOX": "require"].merging(environment) { $1 }
        let child = try await ChildProcess(
            folder.file("respoold"), ["worker"], environment: shop.environment.merging(own) { $1 })
        try await child.logs("worker started")
        return child
    }

    private func push(_ name: String) async throws -> String {
        let source = try shop.source("\(name).wav", Sounds.ramp(samples: 44_100))
        return try await shop.push(["source": source, "format": "flac", "output": "\(name).flac", "attempts": "1"])
    }

    @Test(arguments: [
        ("names", ErrorCode.crashed, "requested a part"), ("keeps", .crashed, "can still write"),
        ("fills", .tooLarge, "scratch files among them"), ("floods", .crashed, "does not read"),
    ])
    func `a transcoder that does not keep to its job fails it, and is replaced`(
        attack: String, code: ErrorCode, words: String
    ) async throws {
        let worker = try await worker(attack, ["RESPOOL_MAX_OUTPUT_BYTES": "1048576"])
        if attack == "keeps", try await isOnOverlay() {
            // Leases do not show each writer there, so a copy is published, to which nobody else can write.
            for name in ["a", "b"] { try await shop.job(try await push(name), reaches: .completed) }
            return
        }
        for name in ["a", "b"] {
            let before = try await worker.children("respool-transcode")
            let error = try #require(try await shop.job(try await push(name), reaches: .failed).error)
            #expect(error.code == code && error.message.contains(words), "\(error)")
            for pid in before { try await hasEnded(pid) }
        }
        #expect(shop.outputs == [])
    }

    /// Whether the results are on an overlay, such as a container's own file system.
    private func isOnOverlay() async throws -> Bool {
        try await ChildProcess.run("stat", ["-f", "-c", "%T", folder.path]).output == "overlayfs\n"
    }

    @Test func `a transcoder that keeps a scratch file open is replaced after its job`() async throws {
        let worker = try await worker("hoards")
        try await shop.job(try await push("a"), reaches: .completed)
        try await worker.logs("the children are replaced")
        try await shop.job(try await push("b"), reaches: .completed)
        #expect(shop.outputs.sorted() == ["a.flac", "b.flac"])
    }
}
