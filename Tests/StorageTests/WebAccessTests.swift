import JobSchema
import SlotIPC
import TestSupport
import Testing

/// Who asks, as servers are told: each no more than is meant for it.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct WebAccessTests {
    private let size = Int64(Origin.content.count)

    private func policy(_ lines: String) -> TransferPolicy {
        var policy = RemoteSourceTests.policy
        policy.allowedHosts.append("localhost")
        policy.credentials.lines = lines
        return policy
    }

    private func job(_ url: String, _ credentials: String? = nil, headers: [String: String] = [:]) -> TransferJob {
        var job = TransferJob.test(url)
        job.access.credentials = credentials
        job.access.headers = headers
        return job
    }

    /// Reads the whole source, and answers what the servers were told of who asks.
    private func told(_ job: TransferJob, _ policy: TransferPolicy, _ names: String...) async throws -> [String] {
        try await withTransfer(policy) { child in
            try await child.tell(.job(job))
            if let failure = try await child.ask(.open).failure { Issue.record("\(failure)") }
            #expect(try await child.fetch(0..<size) == Origin.content)
        }
        var lines: [String] = []
        for name in names { lines += try await Origin.shared.lines(name).filter { $0.hasPrefix("WHO") } }
        return lines
    }

    @Test func `credentials and headers stay with their servers when one redirects`() async throws {
        let port = try await Origin.shared.port()
        let policy = policy("studio http://127.0.0.1:\(port) basic me:secret")
        let away = "http://localhost:\(port)/who/away"
        let here = "http://127.0.0.1:\(port)/who/here?to=\(away)"
        let job = job("http://127.0.0.1:\(port)/who/first?to=\(here)", "studio", headers: ["x-key": "planted"])
        let lines = try await told(job, policy, "first", "here", "away")
        #expect(lines == ["WHO Basic bWU6c2VjcmV0 planted", "WHO Basic bWU6c2VjcmV0 planted", "WHO - -"])
    }

    @Test func `the user in a URL is sent to its server only`() async throws {
        let port = try await Origin.shared.port()
        let here = "http://127.0.0.1:\(port)/who/user-here?to=http://localhost:\(port)/who/user-away"
        let job = job("http://me:secret@127.0.0.1:\(port)/who/user-first?to=\(here)")
        let lines = try await told(job, policy(""), "user-first", "user-here", "user-away")
        #expect(lines == ["WHO Basic bWU6c2VjcmV0 -", "WHO Basic bWU6c2VjcmV0 -", "WHO - -"])
    }

    @Test func `a server that a playlist names gets its own credentials`() async throws {
        let port = try await Origin.shared.port()
        let policy = policy(
            "studio http://127.0.0.1:\(port),http://localhost:\(port) header X-Key: planted")
        let urls = [("same", "127.0.0.1"), ("other", "localhost")].map { name, host in
            "http://\(host):\(port)/who/nested-\(name)"
        }
        let list = try await Origin.shared.list(
            "named", ["#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + urls.map { "#EXTINF:1,\n\($0)\n" }.joined()])
        let job = job(list, "studio", headers: ["authorization": "own"])
        try await withTransfer(policy) { child in
            try await child.tell(.job(job))
            _ = try await child.ask(.open)
            for url in urls {
                guard case .openedWhole = try await child.ask(.openNested(url, within: 0, as: .segment)) else {
                    Issue.record("\(url) not opened")
                    return
                }
            }
        }
        #expect(try await Origin.shared.lines("nested-same").contains("WHO own planted"))
        #expect(try await Origin.shared.lines("nested-other").contains("WHO - planted"))
    }

    @Test func `credentials for another server, or missing ones, reach nobody`() async throws {
        let port = try await Origin.shared.port()
        let url = "http://127.0.0.1:\(port)/who/unasked"
        let lines = "studio 127.0.0.1:\(port) bearer planted-secret\nother http://localhost bearer planted-secret"
        for (name, sentence, retryable) in [
            ("studio", "not allowed for http://127.0.0.1:\(port)", false), ("other", "not allowed for", false),
            ("none", "no credentials 'none'", true),
        ] {
            try await withTransfer(policy(lines)) { child in
                try await child.tell(.job(job(url, name)))
                let failure = try #require(try await child.ask(.open).failure)
                #expect(failure.code == .sourceDenied && failure.retryable == retryable)
                #expect(failure.message.contains(sentence) && !failure.message.contains("planted-secret"))
            }
        }
        #expect(try await Origin.shared.lines("unasked") == [])
    }

    @Test func `the file of credentials is read anew`() async throws {
        let port = try await Origin.shared.port()
        let folder = try TemporaryFolder()
        var policy = policy("")
        policy.credentials.file = try folder.write("web", text: "# none yet\n")
        try await withTransfer(policy) { child in
            let url = "http://127.0.0.1:\(port)/who/replaced"
            try await child.tell(.job(job(url, "studio")))
            #expect(try await child.ask(.open).failure?.retryable == true)
            _ = try await child.end()
            try folder.write("web", text: "\n studio  http://127.0.0.1:\(port)\tbearer abc.def== \n")
            try await child.tell(.job(job(url, "studio")))
            _ = try await child.ask(.open)
        }
        #expect(try await Origin.shared.lines("replaced").contains("WHO Bearer abc.def== -"))
    }

    @Test func `an output is sent with the credentials that it names`() async throws {
        let port = try await Origin.shared.port()
        let url = try await Origin.shared.url("put-busy", "with-credentials") + "/a.flac"
        let lines = "studio http://127.0.0.1:\(port) header X-Kind: planted\nother https://elsewhere bearer x"
        var output = TransferJob.Output(url, defaultName: "job.mp3")
        output.delivery.credentials = "studio"
        try await withTransfer(policy(lines)) { child in
            try await child.tell(.job(TransferJob(id: "1-0", token: "1:a", sourceURL: "/none", outputs: [output])))
            _ = try await child.stage("abc")
            try await child.tell(.publish)
            #expect(try await child.outcome().isPublished)
            _ = try await child.end()
            output.delivery.credentials = "other"
            try await child.tell(.job(TransferJob(id: "2-0", token: "1:a", sourceURL: url, outputs: [output])))
            #expect(try await child.ask(.open).failure?.code == .outputDenied)
        }
        #expect(try await Origin.shared.lines("with-credentials") == ["PUT  audio/flac planted"])
    }
}
