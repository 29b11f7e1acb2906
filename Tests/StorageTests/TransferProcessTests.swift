import FoundationEssentials
import Glibc
import JobSchema
import SlotIPC
import TestSupport
import Testing

/// The process: how it starts and ends, and that it keeps nothing of a job.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct TransferProcessTests {
    @Test func `the program is not for starting by hand`() async throws {
        for arguments in [[], ["1"], ["no number"]] {
            let outcome = try await ChildProcess.run(Programs.path("respool-transfer"), arguments)
            #expect(outcome.exitCode == 2)
        }
    }

    @Test func `the process limits itself and gives up privileges`() async throws {
        var policy = TransferPolicy()
        policy.maxSourceBytes = 1 << 30
        policy.maxOutputBytes = 1 << 31
        policy.memoryLimit = 3 << 30
        try await withTransfer(policy) { child in
            // The limits are set after the hello is answered, and before any order.
            _ = try await child.end()
            let limits = try String(contentsOfFile: "/proc/\(child.pid)/limits", encoding: .utf8)
            func limit(_ name: String) -> [String] {
                let line = limits.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
                return line.dropFirst(name.count).split(separator: " ").prefix(2).map(String.init)
            }
            #expect(limit("Max file size") == ["2147483648", "2147483648"])
            #expect(limit("Max core file size") == ["0", "0"])
            #expect(limit("Max open files") == ["256", "256"])
            if ProcessInfo.processInfo.environment["RESPOOL_MEMORY_LIMIT"] != "off" {
                #expect(limit("Max address space") == ["3221225472", "3221225472"])
            }
            let status = try String(contentsOfFile: "/proc/\(child.pid)/status", encoding: .utf8)
            #expect(status.contains("NoNewPrivs:\t1"))
        }
    }

    @Test func `no file of a job stays, wherever it is ended`() async throws {
        let folder = try TemporaryFolder()
        var policy = RemoteSourceTests.policy
        policy.outputRoot = folder.path
        policy.spoolFolder = folder.path
        let url = try await Origin.shared.url("stalls", "ended", 300_000)
        try await withTransfer(policy) { child in
            #expect(try await child.end().isEnded)
            let idle = try child.openDescriptors()
            let steps: [(TransferChild) async throws -> Void] = [
                { _ in },
                { try await $0.send(.open) },
                { _ = try await $0.ask(.open) },
                { child in
                    _ = try await child.ask(.open)
                    try await child.send(.need(offset: 900_000))
                },
                { _ = try await $0.ask(.stage(output: 0, part: nil)) },
                { child in
                    _ = try await child.ask(.stage(output: 0, part: nil))
                    try await child.send(.finished(output: 0, part: nil))
                },
                { _ = try await $0.stage("abc") },
            ]
            for (number, step) in steps.enumerated() {
                try await child.tell(.job(.test(url, output: "a.mp3")))
                try await step(child)
                try await child.endJob()
                try await eventually("the descriptors of step \(number) are closed") {
                    // What remains open may be connections that are kept for the next job.
                    try child.openDescriptors() <= idle + 1
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
            }
        }
    }

    @Test func `a request that still waits is refused when its job ends`() async throws {
        let url = try await Origin.shared.url("mute", "waiting")
        try await withTransfer(RemoteSourceTests.policy) { child in
            try await child.tell(.job(.test(url)))
            try await child.send(.open)
            #expect(try await child.end().isEnded)
            #expect(try await child.answer().failure?.code == .cancelled)
            #expect(try await child.ask(.need(offset: 0)).failure?.code == .internal)
        }
    }

    @Test func `the process ends with its worker in the middle of a download`() async throws {
        let url = try await Origin.shared.url("mute", "orphan")
        let child = try await TransferChild.start(RemoteSourceTests.policy)
        try await child.tell(.job(.test(url)))
        try await child.send(.open)
        #expect(await child.finish() == 0)
    }

    /// Whether a small file system can be mounted for one process alone.
    private static var mayMount: Bool {
        get async throws { try await ChildProcess.run("unshare", ["-rm", "true"]).succeeded }
    }

    @Test(.enabled("needs user namespaces") { try await mayMount })
    func `a full disk is reported, and the job's files are removed`() async throws {
        let folder = try TemporaryFolder()
        var policy = RemoteSourceTests.policy
        policy.spoolFolder = folder.path
        let mount = [
            "/usr/bin/unshare", "-rm", "sh", "-c", #"mount -t tmpfs -o size=512k none "$0" && exec "$@""#, folder.path,
        ]
        let url = try await Origin.shared.url("ranges", "full")
        try await withTransfer(policy, wrapper: mount) { child in
            for _ in 0..<3 {
                try await child.tell(.job(.test(url)))
                _ = try await child.ask(.open)
                var offset: Int64 = 0
                var failure: Failure?
                while failure == nil {
                    switch try await child.ask(.need(offset: offset)) {
                    case .have(offset, let length) where length > 0: offset += length
                    case let answer: failure = answer.failure ?? Failure(.internal, "the source ended")
                    }
                }
                #expect(failure?.code == .outOfSpace && failure?.retryable == true)
                #expect(offset <= 512 << 10)
                #expect(try await child.end().isEnded)
                // A program that another test starts just now holds a copy of our descriptor for a moment.
                try await eventually("all of the disk is free") {
                    var disk = statvfs()
                    return statvfs("/proc/\(child.pid)/root\(folder.path)", &disk) == 0 && disk.f_bfree == disk.f_blocks
                }
            }
        }
    }

    @Test func `a missing spool folder is reported`() async throws {
        var policy = RemoteSourceTests.policy
        policy.spoolFolder = "/no/such/folder"
        let url = try await Origin.shared.url("ranges", "spool")
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(url)))
            let failure = try #require(try await child.ask(.open).failure)
            #expect(failure.code == .internal && failure.message.contains("RESPOOL_SPOOL_DIR"))
        }
    }
}
