import FoundationEssentials
import JobSchema
import SlotIPC
import TestSupport
import Testing

/// Sources on servers that speak no HTTP.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct FileServerTests {
    private let size = Int64(Origin.content.count)

    /// Runs a job that reads all of the source, and answers what opening it failed with.
    @discardableResult
    private func check(
        _ url: String, by child: TransferChild, credentials: String? = nil, has expected: [UInt8] = Origin.content
    ) async throws -> Failure? {
        var job = TransferJob.test(url)
        job.access.credentials = credentials
        try await child.tell(.job(job))
        let answer = try await child.ask(.open)
        if case .opened(let length, _) = answer {
            #expect(try await child.fetch(0..<length) == expected, "\(url)")
        }
        try await child.endJob()
        return answer.failure
    }

    @Test(arguments: ["ftp", "sftp"])
    func `a source is fetched whole, in parts, and after a break`(scheme: String) async throws {
        let servers = try await FileServers.start()
        try await withTransfer(servers.policy) { child in
            try await child.tell(.job(.test(servers.url(scheme, "content"))))
            guard case .opened(size, _) = try await child.ask(.open) else {
                Issue.record("not opened")
                return
            }
            #expect(try await child.fetch(size - 1000..<size) == Array(Origin.content.suffix(1000)))
            #expect(try await child.fetch(0..<size) == Origin.content)
            try await child.endJob()

            #expect(try await check(servers.url(scheme, "cut"), by: child) == nil)
            #expect(try await check(servers.url(scheme, "empty"), by: child, has: []) == nil)
        }
        let cut = servers.reads.filter { $0.hasPrefix("\(scheme) cut ") }
        #expect(cut.count == 2 && cut.first == "\(scheme) cut 0" && cut.last != cut.first)
    }

    @Test func `data comes from the host that was asked, whatever address the reply names`() async throws {
        let servers = try await FileServers.start()
        try await withTransfer(servers.policy) { child in
            let failure = try await check("ftp://127.0.0.1:\(servers.old)/content", by: child)
            #expect(failure == nil)
        }
        #expect(servers.reads == ["old content 0"])
    }

    @Test func `the protocols are off by default, and restricted to the addresses for sources`() async throws {
        let servers = try await FileServers.start()
        let urls = ["ftp", "sftp"].map { servers.url($0, "content") }
        var policy = servers.policy
        policy.sourceSchemes = []
        try await withTransfer(policy) { child in
            for url in urls {
                let failure = try #require(try await check(url, by: child))
                #expect(failure.code == .policyDenied && failure.message.contains("RESPOOL_SOURCE_SCHEMES"))
                #expect(!failure.message.contains("secret"))
            }
        }
        policy = servers.policy
        policy.allowedHosts = []
        try await withTransfer(policy) { child in
            for url in urls {
                let failure = try #require(try await check(url, by: child))
                #expect(failure.code == .policyDenied && failure.message.contains("RESPOOL_ALLOW_HOSTS"))
            }
        }
        #expect(servers.reads == [])
    }

    @Test(arguments: ["ftp", "sftp"]) func `credentials are requested by name, and a refusal is reported`(
        scheme: String
    ) async throws {
        let servers = try await FileServers.start()
        var policy = servers.policy
        policy.credentials.lines = """
            right \(scheme)://127.0.0.1:\(scheme == "sftp" ? servers.sftp : servers.ftp) basic me:secret
            wrong \(scheme)://127.0.0.1:\(scheme == "sftp" ? servers.sftp : servers.ftp) basic me:planted
            """
        let url = servers.url(scheme, "content", user: "")
        try await withTransfer(policy) { child in
            #expect(try await check(url, by: child, credentials: "right") == nil)
            let failure = try #require(try await check(url, by: child, credentials: "wrong"))
            #expect(failure.code == .sourceDenied && !failure.message.contains("planted"), "\(failure.message)")
            #expect(try await check(servers.url(scheme, "none"), by: child)?.code == .sourceNotFound)
        }
    }

    @Test func `an SFTP server is known by its host key, and the client by its private key`() async throws {
        let servers = try await FileServers.start()
        var policy = servers.policy
        policy.sshKeyFile = servers.folder.file("own-key")
        try await withTransfer(policy) { child in
            let failure = try await check(servers.url("sftp", "content", user: "me@"), by: child)
            #expect(failure == nil)
        }
        let known = try String(contentsOfFile: servers.folder.file("known-hosts"), encoding: .utf8)
        for text in ["", known.replacing("127.0.0.1", with: "127.0.0.2")] {
            policy.knownHostsFile = try servers.folder.write("others", Array(text.utf8))
            try await withTransfer(policy) { child in
                let failure = try #require(try await check(servers.url("sftp", "content"), by: child))
                #expect(failure.code == .sourceUnreachable, "\(failure.message)")
                #expect(failure.message.contains("RESPOOL_SSH_KNOWN_HOSTS"))
            }
        }
        #expect(servers.reads == ["sftp content 0"])
    }

    @Test func `the certificate of FTP over TLS is verified`() async throws {
        let servers = try await FileServers.start()
        let url = servers.url("ftps", "content")
        var policy = servers.policy
        try await withTransfer(policy) { child in
            let failure = try #require(try await check(url, by: child))
            #expect(failure.code == .sourceUnreachable && failure.message.contains("certificate"))
        }
        policy.certificateFile = try await Origin.shared.certificateFile()
        try await withTransfer(policy) { child in
            let failure = try await check(url, by: child)
            #expect(failure == nil)
            // One that sends the bytes themselves without.
            let half = "ftps://me:secret@localhost:\(servers.half)/content"
            let refusal = try #require(try await check(half, by: child))
            #expect(refusal.code == .sourceUnreachable && refusal.message.contains("without TLS"), "\(refusal)")
        }
    }
}
