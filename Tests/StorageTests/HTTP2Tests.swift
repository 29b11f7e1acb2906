import FoundationEssentials
import SlotIPC
import TestSupport
import Testing

/// Sources over HTTP/2, which nghttpx speaks in front of the origin.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct HTTP2Tests {
    private let folder: TemporaryFolder
    private let size = Int64(Origin.content.count)

    init() throws { folder = try TemporaryFolder() }

    /// A running nghttpx.
    private struct Front {
        let process: ChildProcess
        let port: UInt16
        let log: String

        /// The port of the connection, the protocol and the status of each request.
        var requests: [[Substring]] {
            let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            return text.split(separator: "\n").map { $0.split(separator: " ") }
        }
    }

    private func startFront() async throws -> Front {
        let port = try LoopbackPort.free()
        let certificate = try await Origin.shared.certificateFile()
        let log = folder.file("front.log")
        let process = try await ChildProcess(
            "nghttpx",
            [
                "-f127.0.0.1,\(port)", "-b127.0.0.1,\(try await Origin.shared.port())", "--accesslog-file=\(log)",
                "--accesslog-format=$remote_port $alpn $status", "--conf=/dev/null",
                certificate.replacing("certificate.pem", with: "key.pem"), certificate,
            ])
        try await eventually("nghttpx listens") {
            try await ChildProcess.run("bash", ["-c", "echo > /dev/tcp/127.0.0.1/\(port)"]).succeeded
        }
        return Front(process: process, port: port, log: log)
    }

    private func policy() async throws -> TransferPolicy {
        var policy = RemoteSourceTests.policy
        policy.allowedHosts.append("localhost")
        policy.certificateFile = try await Origin.shared.certificateFile()
        return policy
    }

    @Test func `ranges and jobs share one connection`() async throws {
        let front = try await startFront()
        let middle = size / 2
        try await withTransfer(policy()) { child in
            for round in 0..<5 {
                try await child.tell(.job(.test("https://localhost:\(front.port)/slow/h2-\(round)/5")))
                _ = try await child.ask(.open)
                #expect(try await child.fetch(0..<1000) == Array(Origin.content[..<1000]))
                #expect(try await child.fetch(size - 1000..<size) == Array(Origin.content.suffix(1000)))
                let part = Int(middle)..<Int(middle) + 1000
                #expect(try await child.fetch(middle..<middle + 1000) == Array(Origin.content[part]))
                if round > 0 { #expect(try await child.fetch(0..<size) == Origin.content) }
                try await child.endJob()
            }
        }
        try await eventually("all requests are logged") { front.requests.count >= 15 }
        let requests = front.requests
        #expect(requests.allSatisfy { $0[1] == "h2" })
        #expect(Set(requests.map { $0[0] }).count == 1)
    }

    /// The server may send 32 MiB before it must wait, which are left where they are while the stream is paused.
    @Test func `a station that sends faster than it is read takes no memory`() async throws {
        let front = try await startFront()
        let total: Int64 = 64 << 20
        try await withTransfer(policy()) { child in
            let before = try child.peakMemory()
            try await child.tell(.job(.test("https://localhost:\(front.port)/station/h2-station/\(total)")))
            guard case .openedStream = try await child.ask(.open) else { throw NotInTime(description: "no stream") }
            try await eventually("the stream waits for its reader") { await child.sourceBlocks() > 4 << 20 }
            var offset: Int64 = 0
            while case .have(offset, let length) = try await child.ask(.need(offset: offset)),
                length > 0
            {
                offset += length
            }
            #expect(offset == total)
            #expect(try child.peakMemory() - before < 16 << 20)
            try await child.endJob()
        }
        try await eventually("the request is logged") { !front.requests.isEmpty }
        #expect(front.requests.map { $0[1] } == ["h2"])
    }

    @Test(arguments: ["cut-once", "chunked", "without-ranges"])
    func `every byte arrives, also after a break`(behaviour: String) async throws {
        let front = try await startFront()
        let number = behaviour == "cut-once" ? 300_000 : 0
        try await withTransfer(policy()) { child in
            try await child.tell(.job(.test("https://localhost:\(front.port)/\(behaviour)/h2-\(behaviour)/\(number)")))
            guard case .opened(size, _) = try await child.ask(.open) else {
                Issue.record("not opened")
                return
            }
            #expect(try await child.fetch(0..<size) == Origin.content)
        }
        try await eventually("a request is logged") { !front.requests.isEmpty }
        #expect(front.requests.allSatisfy { $0[1] == "h2" })
    }
}
