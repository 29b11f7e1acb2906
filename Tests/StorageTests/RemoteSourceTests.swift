import JobSchema
import SlotIPC
import TestSupport
import Testing

/// Sources from servers that keep to the rules, and from those that are cut off.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct RemoteSourceTests {
    static var policy: TransferPolicy {
        var policy = TransferPolicy()
        policy.allowedHosts = ["127.0.0.1"]
        policy.allowedOutputHosts = ["127.0.0.1"]
        return policy
    }

    private let size = Int64(Origin.content.count)

    @Test(arguments: ["ranges", "without-ranges", "chunked"])
    func `every byte arrives as it is`(behaviour: String) async throws {
        let url = try await Origin.shared.url(behaviour, "whole-\(behaviour)")
        try await withTransfer(Self.policy) { child in
            try await child.tell(.job(.test(url)))
            guard case .opened(size, _) = try await child.ask(.open) else {
                Issue.record("not opened")
                return
            }
            #expect(await !child.mayWriteSource())
            #expect(try await child.fetch(0..<size) == Origin.content)
            guard case .have(size, 0) = try await child.ask(.need(offset: size)) else {
                Issue.record("the end is not told")
                return
            }
        }
        let lines = try await Origin.shared.lines("whole-\(behaviour)")
        #expect(lines.first == "GET - - identity")
        #expect(lines.count { $0.hasPrefix("GET") } == 1)
    }

    @Test func `a chunked source is opened when it is complete`() async throws {
        let url = try await Origin.shared.url("chunked", "spooled")
        try await withTransfer(Self.policy) { child in
            try await child.tell(.job(.test(url)))
            guard case .opened(size, size) = try await child.ask(.open) else {
                Issue.record("opened before its end")
                return
            }
        }
    }

    @Test func `ranges are fetched ahead of the reader, and no byte twice`() async throws {
        let url = try await Origin.shared.url("held", "ahead", 2)
        let index = size - 60_000
        let middle = size / 2
        try await withTransfer(Self.policy) { child in
            try await child.tell(.job(.test(url)))
            _ = try await child.ask(.open)
            #expect(try await child.fetch(0..<1000) == Array(Origin.content[..<1000]))
            #expect(try await child.fetch(index..<size) == Array(Origin.content[Int(index)...]))
            #expect(
                try await child.fetch(middle..<middle + 1000) == Array(Origin.content[Int(middle)..<Int(middle) + 1000])
            )
            #expect(try await child.fetch(0..<size) == Origin.content)
            #expect(try await child.end().isEnded)
        }
        let ranges = try await Origin.shared.ranges("ahead")
        #expect(ranges == ["-", "bytes=\(index)-", "bytes=\(middle)-\(index - 1)"])
        // The first request runs until it meets the middle: what was on its way by then is the only excess.
        #expect(try await Origin.shared.sent("ahead") < Origin.content.count + 300_000)
    }

    @Test func `a reader waits for the bytes if a server has no ranges`() async throws {
        let url = try await Origin.shared.url("without-ranges", "patience")
        try await withTransfer(Self.policy) { child in
            try await child.tell(.job(.test(url)))
            _ = try await child.ask(.open)
            #expect(try await child.fetch(size - 10..<size) == Array(Origin.content.suffix(10)))
            #expect(try await child.fetch(0..<size) == Origin.content)
        }
        #expect(try await Origin.shared.sent("patience") <= 2 * Origin.content.count)
    }

    @Test func `one request is resumed if a server refuses a second`() async throws {
        let url = try await Origin.shared.url("one-at-a-time", "alone")
        try await withTransfer(Self.policy) { child in
            try await child.tell(.job(.test(url)))
            _ = try await child.ask(.open)
            #expect(try await child.fetch(size - 10..<size) == Array(Origin.content.suffix(10)))
            #expect(try await child.fetch(0..<size) == Origin.content)
        }
        #expect(try await Origin.shared.ranges("alone") == ["-", "bytes=\(size - 10)-", "bytes=\(size - 10)-"])
    }

    @Test func `the count of broken requests is reset after enough progress`() async throws {
        var policy = Self.policy
        policy.maxResumes = 1
        let url = try await Origin.shared.url("cut-always", "progress", 300_000)
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(url)))
            _ = try await child.ask(.open)
            #expect(try await child.fetch(0..<size) == Origin.content)
        }
        #expect(
            try await Origin.shared.ranges("progress") == ["-", "bytes=300000-", "bytes=600000-", "bytes=900000-"])
    }

    @Test(arguments: ["cut-once", "dated", "unavailable-once", "chunked-cut"])
    func `a fetch resumes where it broke off`(behaviour: String) async throws {
        let isChunked = behaviour == "chunked-cut"
        let url = try await Origin.shared.url(isChunked ? "chunked" : behaviour, "break-\(behaviour)", 300_000)
        try await withTransfer(Self.policy) { child in
            try await child.tell(.job(.test(url)))
            guard case .opened(size, _) = try await child.ask(.open) else {
                Issue.record("not opened")
                return
            }
            #expect(try await child.fetch(0..<size) == Origin.content)
        }
        let ranges = try await Origin.shared.ranges("break-\(behaviour)")
        #expect(ranges.first == "-")
        #expect(ranges.dropFirst().allSatisfy { $0 == "bytes=300000-" })
        let condition = behaviour == "dated" ? "Sat," : "\"one\""
        #expect(
            try await Origin.shared.lines("break-\(behaviour)").contains {
                $0.hasPrefix("GET bytes=300000- \(condition)")
            })
    }

    @Test func `the other server is asked after a redirect`() async throws {
        let target = try await Origin.shared.url("ranges", "redirected")
        let url = try await Origin.shared.url("redirect", "redirecting") + "?to=\(target)"
        try await withTransfer(Self.policy) { child in
            try await child.tell(.job(.test(url)))
            _ = try await child.ask(.open)
            #expect(try await child.fetch(0..<size) == Origin.content)
        }
    }

    @Test func `the secrets of a URL are used and shown to nobody else`() async throws {
        let port = try await Origin.shared.port()
        try await withTransfer(Self.policy) { child in
            try await child.tell(.job(.test("http://me:secret@127.0.0.1:\(port)/secret/right?token=t")))
            _ = try await child.ask(.open)
            #expect(try await child.fetch(0..<size) == Origin.content)
            _ = try await child.end()
            try await child.tell(.job(.test("http://me:wrong@127.0.0.1:\(port)/secret/wrong?token=t")))
            let failure = try #require(try await child.ask(.open).failure)
            #expect(failure.code == .sourceDenied)
            #expect(!failure.message.contains("wrong@") && !failure.message.contains("token"))
            #expect(failure.message.contains("http://127.0.0.1:\(port)/secret/wrong?…"))
        }
    }

    @Test func `the configured certificates are trusted`() async throws {
        let url = try await Origin.shared.secureURL("ranges", "tls")
        var policy = Self.policy
        policy.certificateFile = try await Origin.shared.certificateFile()
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(url)))
            _ = try await child.ask(.open)
            #expect(try await child.fetch(0..<size) == Origin.content)
        }
        try await withTransfer(Self.policy) { child in
            try await child.tell(.job(.test(url)))
            let failure = try #require(try await child.ask(.open).failure)
            #expect(failure.code == .sourceUnreachable && failure.message.contains("certificate"))
        }
    }

    @Test func `the connection is kept from job to job`() async throws {
        let url = try await Origin.shared.url("ranges", "reuse")
        try await withTransfer(Self.policy) { child in
            var open = 0
            for round in 0..<5 {
                try await child.tell(.job(.test(url)))
                _ = try await child.ask(.open)
                #expect(try await child.fetch(0..<size) == Origin.content)
                #expect(try await child.end().isEnded)
                if round == 0 { open = try child.openDescriptors() }
            }
            // One fewer where the last job, or the first, ended before its server's answer did.
            let last = try child.openDescriptors()
            #expect((open - 1...open + 1).contains(last), "\(open) became \(last)")
        }
    }
}

extension TransferReport {
    var isEnded: Bool {
        if case .ended = self { true } else { false }
    }

    var isPublished: Bool {
        if case .published = self { true } else { false }
    }
}
