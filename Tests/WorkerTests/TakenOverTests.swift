import Foundation
import Glibc
import JobSchema
import Jobs
import Lifecycle
import TestSupport
import Testing

/// The real `respool-transcode`, whose code does what a source says as soon as it reads it, under a real worker.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct TakenOverTests {
    private let folder: TemporaryFolder
    private static let attacks = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../Attacks/include"
    ).path

    /// An installation of its own, whose transcoder is the real one with the hook of `Tests/Preloads/taken-over.c`.
    init() async throws {
        folder = try TemporaryFolder()
        let hook = folder.file("hook.so")
        try await CompiledProgram.make(hook, of: "taken-over.c", ["-shared", "-fPIC", "-I\(Self.attacks)"])
        try await folder.copy(ofProgram: "respoold")
        symlink(Programs.path("respool-transfer"), folder.file("respool-transfer"))
        try await folder.script(
            "respool-transcode", "LD_PRELOAD=\(hook) exec \(Programs.path("respool-transcode")) \"$@\"")
    }

    func worker(_ shop: Workshop, _ environment: [String: String]) async throws -> ChildProcess {
        let own = ["RESPOOL_MAX_CRASHES": "1", "RESPOOL_SANDBOX": "require"].merging(environment) { $1 }
        let child = try await ChildProcess(
            folder.file("respoold"), ["worker"], environment: shop.environment.merging(own) { $1 })
        try await child.logs("worker started")
        return child
    }

    /// A source that its reader obeys, long enough to be read like any other.
    private func order(_ attack: String, _ target: String, in shop: Workshop) throws -> String {
        try shop.source(
            "\(attack).wav", Array("ATTACK \(attack) \(target)\n".utf8) + [UInt8](repeating: 0, count: 4096))
    }

    /// What the hook in the transcoder has written to standard error, which the worker writes down.
    private func words(_ worker: ChildProcess, _ beginning: String) -> [Substring] {
        worker.errors.split(separator: "\n").compactMap { line in
            line.firstRange(of: "\"line\":\"attack: \(beginning) ").map {
                line[$0.lowerBound...].dropFirst(8).prefix { $0 != "\"" }
            }
        }
    }

    @Test func `hostile code in the transcoder finds no file, no network, no process and no Redis`() async throws {
        let shop = try await Workshop()
        let target = try folder.write("target", text: "secret")
        let worker = try await worker(shop, [:])
        let attacks = [
            "reads_file", "writes_file", "empties_file", "lists_folder", "makes_file", "removes_file", "links_file",
            "opens_rights", "connects_tcp", "sends_datagram", "reaches_redis", "reaches_logger", "forks",
            "runs_program",
            "signals_worker", "traces_worker", "reads_worker", "opens_worker", "limits_worker", "raises_limit",
            "runs_data", "makes_namespace", "mounts", "rings", "hides_file", "types_into_terminal", "arms_signal",
            "opens_mode",
        ]
        for attack in attacks {
            let victim = attack == "reaches_redis" ? shop.redis.socket : target
            let id = try await shop.push([
                "source": try order(attack, victim, in: shop), "format": "flac", "attempts": "1",
            ])
            let error = try #require(try await shop.job(id, reaches: .failed).error)
            // What the child said goes another way than how its job ended.
            if error.code == .unsupportedFormat {
                try await eventually("\(attack) says what came of it") { !words(worker, attack).isEmpty }
            }
            let said = words(worker, attack)
            // Refused, and the source is then no media; or killed by the filter of system calls.
            let isRefused =
                error.code == .unsupportedFormat && !said.isEmpty && said.allSatisfy { $0.contains("refused") }
            let isKilled = error.code == .crashed && error.message.contains("signal \(SIGSYS)") && said.isEmpty
            #expect(isRefused || isKilled, "\(attack): \(error) \(said)")
        }
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "secret")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 5)
        // The slot lives on.
        let id = try await shop.push(["source": try shop.source("a.wav", Sounds.ramp(samples: 4410)), "format": "flac"])
        try await shop.job(id, reaches: .completed)
    }

    @Test func `hostile code in the transcoder has nothing but its own job`() async throws {
        let shop = try await Workshop()
        let worker = try await worker(shop, ["RESPOOL_SLOTS": "2"])
        // Another job, whose files are open all the while.
        let long = try shop.source("long.wav", [])
        try Sounds.writeSilence(to: String(long.dropFirst("file://".count)))
        let other = try await shop.push(["source": long, "format": "m4a"])
        try await shop.isConverting(other)
        let own = try order("lists_descriptors", "-", in: shop)
        let id = try await shop.push(["source": own, "format": "flac", "attempts": "1"])
        try await shop.job(id, reaches: .failed)
        #expect(try await shop.job(other)?.state == .running)
        try await eventually("the descriptors are told") { words(worker, "socket").count >= 2 }
        let files = Set(words(worker, "file"))
        var found = stat()
        #expect(stat(String(own.dropFirst("file://".count)), &found) == 0)
        #expect(files == ["attack: file \(found.st_ino)"])
        // Its worker and the other child of its pair.
        #expect(Set(words(worker, "socket")) == ["attack: socket 3", "attack: socket 4"])
        _ = try await shop.queue.cancel([other])
    }

    /// Whether the line of a mount in `mountinfo` is of a hierarchy of version 1 that counts threads, and may be written to.
    private static func isWritablePids(_ mount: Substring) -> Bool {
        let words = mount.split(separator: " ")
        guard let dash = words.firstIndex(of: "-"), dash + 3 < words.count, words[dash + 1] == "cgroup" else {
            return false
        }
        let isWritable = words[5].split(separator: ",").contains("rw")
        return isWritable && words[dash + 3].split(separator: ",").contains("pids")
            && words[dash + 3].split(separator: ",").contains("rw")
    }

    /// As root, also without the file systems of control groups.
    @Test(arguments: geteuid() == 0 ? [true, false] : [true])
    func `a transcoder that starts many threads is killed, and its slot lives on`(mayHaveGroups: Bool) async throws {
        let mounts = try String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8).split(separator: "\n")
        if geteuid() == 0, mounts.contains(where: Self.isWritablePids) { #expect(ControlGroup.isAvailable) }
        let shop = try await Workshop()
        let hidden = ["--mount", "sh", "-c", #"umount --lazy --recursive /sys/fs/cgroup; exec "$0" worker"#]
        let program = folder.file("respoold")
        let worker = try await ChildProcess(
            mayHaveGroups ? program : "unshare", mayHaveGroups ? ["worker"] : hidden + [program],
            environment: shop.environment.merging([
                "RESPOOL_MAX_CRASHES": "1", "RESPOOL_SANDBOX": "require",
            ]) { $1 })
        try await worker.logs("worker started")
        try await eventually("it beats") { try await shop.queue.workers().count == 1 }
        let isLimited = try await shop.queue.workers().contains { $0.traits.contains(.limitedThreads) }
        #expect(isLimited == (mayHaveGroups && ControlGroup.isAvailable))
        let count = 100 + 2 * ProcessInfo.processInfo.processorCount
        let bomb = try order("starts_threads", "\(count)", in: shop)
        let id = try await shop.push(["source": bomb, "format": "flac", "attempts": "1"])
        let error = try #require(try await shop.job(id, reaches: .failed).error)
        let found = try #require(error.message.firstMatch(of: /has (\d+) threads, of (\d+) that/), "\(error)")
        let (threads, limit) = (Int(found.1) ?? 0, Int(found.2) ?? 0)
        #expect(error.code == .crashed && (isLimited ? threads == limit + 1 : threads > limit + 1), "\(error)")
        let sound = try shop.source("a.wav", Sounds.ramp(samples: 4410))
        try await shop.job(try await shop.push(["source": sound, "format": "flac"]), reaches: .completed)
        let group = worker.pid
        worker.kill(SIGTERM)
        await worker.wait()
        guard isLimited, let left = FileManager.default.enumerator(atPath: "/sys/fs/cgroup") else { return }
        #expect(!left.contains { ($0 as? String)?.contains("respool-\(group)-") == true })
    }

    @Test func `the same code succeeds outside the sandbox`() async throws {
        let shop = try await Workshop()
        let target = try folder.write("target", text: "secret")
        let worker = try await worker(shop, ["RESPOOL_SANDBOX": "off"])
        for attack in ["reads_file", "connects_tcp", "forks", "reaches_redis"] {
            let victim = attack == "reaches_redis" ? shop.redis.socket : target
            let id = try await shop.push([
                "source": try order(attack, victim, in: shop), "format": "flac", "attempts": "1",
            ])
            try await shop.job(id, reaches: .failed)
            try await eventually("\(attack) says what came of it") { !words(worker, attack).isEmpty }
            #expect(words(worker, attack).contains { $0.hasSuffix("succeeded") }, "\(attack)")
        }
    }

    @Test(arguments: geteuid() == 0 ? ["landlock", "capset"] : ["landlock"])
    func `a kernel without a sandbox feature stops a worker that requires it, and no other`(part: String) async throws {
        let shop = try await Workshop()
        let kernel = folder.file("old-kernel")
        try await CompiledProgram.make(kernel, of: "old-kernel.c")
        let command = [part, Programs.path("respoold"), "worker"]
        let refused = try await ChildProcess.run(
            kernel, command, environment: shop.environment.merging(["RESPOOL_SANDBOX": "require"]) { $1 })
        #expect(refused.exitCode == 1 && refused.errors.contains("has no \(part)"), "\(refused.errors)")
        let worker = try await ChildProcess(
            kernel, command, environment: shop.environment.merging(["RESPOOL_SANDBOX": "on"]) { $1 })
        let id = try await shop.push(["source": try shop.source("a.wav", Sounds.ramp(samples: 4410)), "format": "flac"])
        try await shop.job(id, reaches: .completed)
        #expect(worker.errors.split(separator: "\n").count { $0.contains("no \(part)") } == 1, "\(worker.errors)")
    }
}
