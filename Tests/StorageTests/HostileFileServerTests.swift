import Glibc
import JobSchema
import SlotIPC
import TestSupport
import Testing

/// Servers of FTP that answer without end, or name other hosts.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct HostileFileServerTests {
    private struct Server {
        let process: ChildProcess
        let port: Int

        init(_ behaviour: String) async throws {
            let process = try await ChildProcess(
                "python3", [Script.path("hostile_ftp_server.py"), behaviour], input: .open)
            try await eventually("the server says its port") { process.output.contains("\n") }
            self.process = process
            port = Int(process.output.prefix { $0.isNumber }) ?? 0
        }

        /// What came and went.
        var lines: [Substring] { Array(process.output.split(separator: "\n").dropFirst()) }
    }

    /// What opening the file fails with; both addresses may be asked.
    private func failure(of server: Server, _ check: (TransferChild) async throws -> Void = { _ in }) async throws
        -> Failure?
    {
        var policy = RemoteSourceTests.policy
        policy.sourceSchemes = [.ftp]
        policy.allowedHosts = ["127.0.0.1", "127.0.0.2"]
        policy.maxResumes = 1
        var failure: Failure?
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test("ftp://127.0.0.2:\(server.port)/a.wav")))
            failure = try await child.ask(.open).failure
            try await check(child)
            try await child.endJob()
        }
        return failure
    }

    @Test(arguments: ["greeting", "noise", "line", "reply", "folder"])
    func `replies without end are cut off`(behaviour: String) async throws {
        let server = try await Server(behaviour)
        var peak = 0
        let failure = try #require(try await failure(of: server) { peak = try $0.peakMemory() })
        #expect(peak < 64 << 20)
        #expect(failure.code == .sourceUnreachable, "\(failure.message)")
        try await eventually("the connection is closed") { server.lines.contains { $0.hasPrefix("SENT ") } }
        // Most of it was on its way when the connection was closed.
        let sent = server.lines.compactMap { Int($0.dropFirst("SENT ".count)) }
        #expect(sent.allSatisfy { $0 < 16 << 20 }, "\(sent)")
    }

    @Test(arguments: ["loopback", "metadata", "port"])
    func `an address for the data connection leads to no other host`(behaviour: String) async throws {
        let server = try await Server(behaviour)
        let failure = try #require(try await failure(of: server))
        #expect(failure.code == .sourceUnreachable, "\(failure.message)")
        try await eventually("the server is asked for an address") {
            server.lines.contains { $0 == (behaviour == "port" ? "EPSV" : "PASV") }
        }
        #expect(!server.lines.contains("BAIT"))
    }
}
