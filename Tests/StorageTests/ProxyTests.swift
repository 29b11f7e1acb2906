import FoundationEssentials
import JobSchema
import SlotIPC
import TestSupport
import Testing

/// Requests through a proxy, and what it is not asked for.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ProxyTests {
    private let folder: TemporaryFolder
    private let size = Int64(Origin.content.count)

    init() throws { folder = try TemporaryFolder() }

    /// A running tinyproxy that wants a password.
    private struct Proxy {
        let process: ChildProcess
        let port: UInt16
        let log: String

        /// What it was asked for.
        var requests: [String] {
            let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            return text.split(separator: "\n").compactMap { line in
                line.firstRange(of: "Request (file descriptor ").map { String(line[$0.upperBound...]) }
            }
        }
    }

    private func startProxy() async throws -> Proxy {
        let port = try LoopbackPort.free()
        let log = folder.file("proxy.log")
        let settings = """
            Port \(port)
            Listen 127.0.0.1
            LogFile "\(log)"
            LogLevel Connect
            BasicAuth me planted
            """
        let file = try folder.write("proxy.conf", Array(settings.utf8))
        let process = try await ChildProcess("tinyproxy", ["-d", "-c", file])
        try await eventually("the proxy listens") {
            try await ChildProcess.run("bash", ["-c", "echo > /dev/tcp/127.0.0.1/\(port)"]).succeeded
        }
        return Proxy(process: process, port: port, log: log)
    }

    private func policy(_ proxy: Proxy, allowing hosts: String...) async throws -> TransferPolicy {
        var policy = TransferPolicy()
        policy.allowedHosts = hosts
        policy.allowedOutputHosts = hosts
        policy.proxy = "http://me:planted@127.0.0.1:\(proxy.port)"
        policy.certificateFile = try await Origin.shared.certificateFile()
        return policy
    }

    private func failure(of url: String, _ policy: TransferPolicy) async throws -> Failure {
        var found: Failure?
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(url)))
            found = try await child.ask(.open).failure
            try await child.endJob()
        }
        return try #require(found)
    }

    @Test func `a proxy brings sources over HTTP and HTTPS, and parts of them`() async throws {
        let proxy = try await startProxy()
        let origin = try await Origin.shared.port()
        // The proxy's own address is not among those that sources may have.
        var policy = try await policy(proxy, allowing: "127.0.0.1:\(origin)", "localhost")
        let plain = try await Origin.shared.url("cut-once", "proxied", 300_000)
        let secure = try await Origin.shared.secureURL("ranges", "proxied-tls")
        try await withTransfer(policy) { child in
            for url in [plain, secure] {
                try await child.tell(.job(.test(url)))
                if let failure = try await child.ask(.open).failure { Issue.record("\(failure)") }
                #expect(try await child.fetch(0..<size) == Origin.content)
                try await child.endJob()
            }
        }
        #expect(proxy.requests.count { $0.contains("GET \(plain) HTTP/1.1") } == 2)
        #expect(proxy.requests.contains { $0.contains("CONNECT localhost:") })
        #expect(try await Origin.shared.ranges("proxied") == ["-", "bytes=300000-"])

        policy.proxyExceptions = ["10.0.0.0/8", "127.0.0.1"]
        let count = proxy.requests.count
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(try await Origin.shared.url("ranges", "not-proxied"))))
            _ = try await child.ask(.open)
            #expect(try await child.fetch(0..<size) == Origin.content)
        }
        #expect(proxy.requests.count == count)
    }

    @Test func `a proxy takes outputs to their servers`() async throws {
        let proxy = try await startProxy()
        let policy = try await policy(proxy, allowing: "127.0.0.1")
        let url = try await Origin.shared.url("put-busy", "proxied-put")
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test("/none", output: url)))
            _ = try await child.stage("abc")
            try await child.tell(.publish)
            let outcome = try await child.outcome()
            #expect(outcome.isPublished, "\(outcome)")
            try await child.endJob()
        }
        #expect(try await Origin.shared.body("proxied-put") == "abc")
        #expect(proxy.requests.contains { $0.contains("PUT \(url) HTTP/1.1") })
    }

    @Test func `a proxy is asked for no host that has an address that is not public`() async throws {
        let proxy = try await startProxy()
        let port = try await Origin.shared.port()
        let policy = try await policy(proxy, allowing: "127.0.0.1:\(port)")
        let redirect = try await Origin.shared.url("redirect", "proxied-hop")
        let hosts = ["127.0.0.2", "localhost", "0x7f.2", "[::1]", "[::ffff:127.0.0.2]", "169.254.169.254", "10.0.0.1"]
        for host in hosts {
            let url = "http://\(host):\(port)/ranges/asked"
            for source in [url, redirect + "?to=\(url)"] {
                let failure = try await failure(of: source, policy)
                let isName = host == "localhost"
                #expect(failure.code == (isName ? .sourceUnreachable : .policyDenied), "\(source): \(failure.message)")
            }
        }
        #expect(proxy.requests.count == hosts.count)
        #expect(proxy.requests.allSatisfy { $0.contains("GET \(redirect)?to=") })
        #expect(try await Origin.shared.lines("asked").isEmpty)
    }

    @Test func `a failing proxy is named, without its password`() async throws {
        let proxy = try await startProxy()
        var policy = try await policy(proxy, allowing: "127.0.0.1", "localhost")
        let plain = try await Origin.shared.url("ranges", "refused")
        let secure = try await Origin.shared.secureURL("ranges", "refused")
        let attempts = [("127.0.0.1", plain, 407), ("127.0.0.1", secure, 407), ("me:wrong@127.0.0.1", secure, 401)]
        for (place, source, status) in attempts {
            policy.proxy = "http://\(place):\(proxy.port)"
            let failure = try await failure(of: source, policy)
            #expect(failure.code == .sourceUnreachable && failure.message.contains("status \(status)"))
            #expect(failure.message.contains("RESPOOL_PROXY") && !failure.message.contains("wrong"))
        }
        policy.proxy = "http://127.0.0.1:\(try LoopbackPort.free())"
        let failure = try await failure(of: plain, policy)
        #expect(failure.message == "the proxy of RESPOOL_PROXY is unreachable")
        #expect(try await Origin.shared.lines("refused").isEmpty)
    }
}
