import JobSchema
import SlotIPC
import TestSupport
import Testing

/// Servers that refuse, lie, stall, or stand where they must not be asked.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct RemoteFailureTests {
    private static var policy: TransferPolicy {
        var policy = RemoteSourceTests.policy
        policy.maxResumes = 2
        return policy
    }

    /// What opening the source and reading all of it ends with.
    private func failure(of url: String, _ policy: TransferPolicy = policy) async throws -> Failure {
        var found: Failure?
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(url)))
            var answer = try await child.ask(.open)
            var offset: Int64 = 0
            while answer.failure == nil {
                answer = try await child.ask(.need(offset: offset))
                guard case .have(_, let length) = answer, length > 0 else { break }
                let bytes = await child.read(offset..<offset + length)
                #expect(bytes == Array(Origin.content[Int(offset)..<Int(offset + length)]), "a wrong byte")
                offset += length
            }
            found = answer.failure
            #expect(try await child.end().isEnded)
        }
        return try #require(found)
    }

    @Test(arguments: [
        (404, ErrorCode.sourceNotFound), (410, .sourceNotFound), (401, .sourceDenied), (403, .sourceDenied),
        (400, .sourceDenied), (451, .sourceDenied), (408, .sourceTimeout), (429, .sourceUnreachable),
        (500, .sourceUnreachable), (503, .sourceUnreachable), (304, .sourceDenied), (204, .sourceNotFound),
    ])
    func `each HTTP status has its error`(status: Int, code: ErrorCode) async throws {
        let failure = try await failure(of: Origin.shared.url("status", "status-\(status)", status))
        #expect(failure.code == code)
        #expect(failure.retryable == code.isRetryable)
        #expect(failure.message.contains("status \(status)"))
        #expect(failure.retryAfter == nil)
    }

    @Test func `an error page is no source, however it is sent`() async throws {
        let url = try await Origin.shared.url("status", "page", 404) + "?encoded=1"
        #expect(try await failure(of: url).code == .sourceNotFound)
    }

    @Test func `a name that cannot be resolved and one that is not public fail alike`() async throws {
        // No label may be longer than 63 bytes, so no name server is asked; the other is in every hosts file.
        let names = ["\(String(repeating: "a", count: 64)).invalid", "localhost"]
        var failures: [Failure] = []
        for name in names { failures.append(try await failure(of: "http://\(name)/a.mp3", TransferPolicy())) }
        for (name, failure) in zip(names, failures) {
            #expect(failure.code == .sourceUnreachable && failure.retryable)
            #expect(
                failure.message.contains(
                    "'\(name)' of the source 'http://\(name)/a.mp3' does not resolve to a public"))
        }
        let sentences = zip(names, failures).map { $1.message.replacing($0, with: "NAME") }
        #expect(sentences[0] == sentences[1])
    }

    @Test(arguments: [
        ("7", 7.0), ("999999", 3600), ("Fri,%2031%20Dec%202100%2023:59:59%20GMT", 3600),
        ("Fri,%2031%20Dec%201999%2023:59:59%20GMT", 0),
    ])
    func `the server's requested delay is reported`(after: String, seconds: Double) async throws {
        let url = try await Origin.shared.url("status", "after", 503) + "?after=\(after)"
        #expect(try await failure(of: url).retryAfter == seconds)
    }

    @Test(arguments: [
        ("changes", 300_000, ErrorCode.sourceChanged, true, "changed"),
        ("shifted", 300_000, .sourceUnreachable, true, "the request for the bytes from 300000"),
        ("overlong", 300_000, .sourceUnreachable, true, "more bytes than it declared"),
        ("longer", 1000, .sourceTruncated, true, "fewer bytes than it declared"),
        ("without-ranges", 300_000, .sourceTruncated, true, "does not support range requests"),
        ("without-validator", 300_000, .sourceTruncated, true, "sends no strong ETag and no Last-Modified"),
        ("cut-always", 100_000, .sourceTruncated, true, "fewer bytes than it declared"),
        ("headless", 0, .sourceUnreachable, true, "is not HTTP"),
        ("encoded", 0, .unsupportedFormat, false, "gzip"),
        ("stalls", 300_000, .sourceTimeout, true, "nothing more for 0.3 s"),
        ("mute", 0, .sourceTimeout, true, "did not respond for 0.3 s"),
    ])
    func `a server that violates the protocol is a clear failure`(
        behaviour: String, number: Int, code: ErrorCode, isRetryable: Bool, words: String
    ) async throws {
        var policy = Self.policy
        // Short only where it is waited for: on a busy machine any server may take longer.
        if behaviour == "stalls" { policy.stallTimeout = 0.3 }
        if behaviour == "mute" { policy.firstByteTimeout = 0.3 }
        let failure = try await failure(of: Origin.shared.url(behaviour, "lie-\(behaviour)", number), policy)
        #expect(failure.code == code)
        #expect(failure.retryable == isRetryable)
        #expect(failure.message.contains(words), "\(failure.message)")
    }

    @Test func `a source is given up after the maximum number of resumes`() async throws {
        _ = try await failure(of: Origin.shared.url("cut-always", "resumes", 100_000))
        #expect(try await Origin.shared.ranges("resumes") == ["-", "bytes=100000-", "bytes=200000-"])
    }

    @Test(arguments: ["ranges", "chunked"])
    func `a source over the limit is refused`(behaviour: String) async throws {
        var policy = Self.policy
        policy.maxSourceBytes = 500_000
        let failure = try await failure(of: Origin.shared.url(behaviour, "large-\(behaviour)"), policy)
        #expect(failure.code == .tooLarge)
        #expect(failure.message.contains("500000"))
    }

    @Test func `a stream without end is cut off at the limit`() async throws {
        var policy = Self.policy
        policy.maxSourceBytes = 3_000_000
        #expect(try await failure(of: Origin.shared.url("endless", "endless"), policy).code == .tooLarge)
        // The rest was on its way when the connection was closed.
        #expect(try await Origin.shared.sent("endless") < 30_000_000)
    }

    @Test(arguments: ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]", "0.0.0.0"])
    func `no name and no spelling leads to this machine`(host: String) async throws {
        var policy = Self.policy
        policy.allowedHosts = []
        let port = try await Origin.shared.port()
        let failure = try await failure(of: "http://\(host):\(port)/ranges/denied", policy)
        #expect(failure.code == (host == "localhost" ? .sourceUnreachable : .policyDenied))
        #expect(failure.message.contains("RESPOOL_ALLOW_HOSTS"))
        #expect(try await Origin.shared.lines("denied").isEmpty)
    }

    @Test(arguments: ["http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/", "http://10.0.0.1:9/"])
    func `no private address is contacted`(url: String) async throws {
        #expect(try await failure(of: url).code == .policyDenied)
    }

    @Test func `a redirect is checked like a source`() async throws {
        var policy = Self.policy
        let port = try await Origin.shared.port()
        policy.allowedHosts = ["127.0.0.1:\(port)"]
        let redirect = try await Origin.shared.url("redirect", "hop")
        let targets = [
            "http://127.0.0.2:\(port)/ranges/hopped", "http://127.0.0.1:9/", "http://[::1]:\(port)/",
            "http://2130706434:\(port)/ranges/hopped", "http://0177.0.0.2:\(port)/ranges/hopped",
            "http://[::ffff:127.0.0.2]:\(port)/ranges/hopped",
        ]
        for target in targets {
            let failure = try await failure(of: redirect + "?to=\(target)", policy)
            #expect(failure.code == .policyDenied, "\(target): \(failure.message)")
        }
        for target in ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:\(port)/"] {
            let failure = try await failure(of: redirect + "?to=\(target)", policy)
            #expect(failure.code == .policyDenied, "\(target): \(failure.message)")
        }
        #expect(try await Origin.shared.lines("hopped").isEmpty)
    }

    @Test(arguments: ["lines", "line", "interim", "trailer"])
    func `a header without end is cut off`(kind: String) async throws {
        let url = try await Origin.shared.url("endless-header", "header-\(kind)") + "?kind=\(kind)"
        let failure = try await failure(of: url)
        #expect(failure.code == .sourceUnreachable, "\(failure.message)")
        #expect(failure.message.contains("the header from the server"), "\(failure.message)")
        // The rest was on its way when the connection was closed.
        #expect(try await Origin.shared.sent("header-\(kind)") < 10_000_000)
    }

    @Test(arguments: [nil, 0, 7])
    func `redirects are limited in number`(limit: Int?) async throws {
        var policy = Self.policy
        policy.maxRedirects = limit ?? policy.maxRedirects
        let name = "circle-\(limit ?? -1)"
        let failure = try await failure(of: Origin.shared.url("circle", name), policy)
        #expect(failure.code == .policyDenied && failure.message.contains("RESPOOL_MAX_REDIRECTS"))
        #expect(try await Origin.shared.ranges(name).count == (limit ?? 20) + 1)
    }

    @Test func `a missing server is unreachable`() async throws {
        let port = try LoopbackPort.free()
        let failure = try await failure(of: "http://127.0.0.1:\(port)/a.mp3")
        #expect(failure.code == .sourceUnreachable && failure.retryable)
        #expect(failure.message.contains("'127.0.0.1'"))
    }

    @Test(arguments: [
        "s3://bucket", "scp://host/a", "ftp://", "a.mp3", "", "http://", "http://:80/", "https:///a", "gopher:a",
        "concat:/etc/passwd|/etc/group", "subfile,,start,0,end,9,,:/etc/passwd", "data:audio/wav;base64,UklGRg==",
        "pipe:0", "/srv/a\0.wav", "file:///srv/a%00.wav",
    ])
    func `other URLs are invalid`(url: String) async throws {
        #expect(try await failure(of: url).code == .invalidRequest)
    }
}
