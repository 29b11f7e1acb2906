import FoundationEssentials
import JobSchema
import SlotIPC
import TestSupport
import Testing

/// Names whose addresses change or are many, in a network of its own with a name server of its own.
@Suite(
    .failureReport, .enabled("needs namespaces for users, mounts and networks") { try await Ground.isPossible },
    .timeLimit(.minutes(5))) struct RebindingTests
{
    @Test func `a name that is public first and loopback next is refused next`() async throws {
        let ground = try await Ground.start()
        let url = "http://rebinding.test/a"
        try await withTransfer(TransferPolicy(), wrapper: ground.wrapper) { child in
            // The second time as well it is the address that was checked.
            for _ in 0..<2 {
                try await child.tell(.job(.test(url)))
                if let failure = try await child.ask(.open).failure { Issue.record("\(failure)") }
                #expect(try await child.fetch(0..<5) == Array("bytes".utf8))
                try await child.endJob()
            }
        }
        #expect(ground.asked == ["93.184.216.34", "93.184.216.34"])
        try await withTransfer(TransferPolicy(), wrapper: ground.wrapper) { child in
            try await child.tell(.job(.test(url)))
            #expect(try await child.ask(.open).failure?.code == .sourceUnreachable)
            try await child.endJob()
        }
        #expect(ground.asked.count == 2)
    }

    @Test func `only the public address is tried of a name that is loopback too`() async throws {
        let ground = try await Ground.start()
        try await withTransfer(TransferPolicy(), wrapper: ground.wrapper) { child in
            try await child.tell(.job(.test("http://both.test/a")))
            #expect(try await child.ask(.open).failure?.code == .sourceUnreachable)
            try await child.endJob()
        }
        #expect(ground.asked == [])
    }
}

/// The namespaces, with a public address on the loopback interface, a name server and a web server.
private struct Ground {
    private let process: ChildProcess
    private let folder: TemporaryFolder

    static var isPossible: Bool {
        get async throws {
            try await ChildProcess.run("unshare", ["-rmn", "ip", "link", "set", "lo", "up"]).succeeded
        }
    }

    static func start() async throws -> Ground {
        let folder = try TemporaryFolder()
        let process = try await ChildProcess(
            "unshare", ["-rmn", "python3", Script.path("rebinding.py"), folder.path], input: .open)
        try await eventually("the servers are up") { process.output == "ready\n" }
        return Ground(process: process, folder: folder)
    }

    /// What makes a program's network this one.
    var wrapper: [String] {
        ["/usr/bin/nsenter", "-t", "\(process.pid)", "-U", "-m", "-n", "--preserve-credentials"]
    }

    /// The addresses under which the web server was asked.
    var asked: [String] {
        let text = (try? String(contentsOfFile: folder.file("asked"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }
}
