import JobSchema
import MediaTypes
import SlotIPC
import TestSupport
import Testing

/// Outputs that are sent to a URL, such as one that somebody signed beforehand.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct WebOutputTests {
    private func job(_ url: String, _ delivery: Delivery = Delivery(), parts: [PartPattern] = []) -> TransferJob {
        TransferJob(
            id: "1700000000000-0", token: "1:abcd", sourceURL: "/none",
            outputs: [.init(url, defaultName: "job.mp3", delivery: delivery, parts: parts)])
    }

    @Test(arguments: Delivery.Method.allCases)
    func `an output is sent when it is published, and its URL's secret is shown to nobody`(
        method: Delivery.Method
    ) async throws {
        let name = "sent-\(method)"
        let url = try await Origin.shared.url("put-busy", name) + "/a.flac?X-Signature=planted-secret"
        var delivery = Delivery()
        delivery.method = method
        delivery.headers = ["x-kind": "BlockBlob"]
        try await withTransfer(RemoteSourceTests.policy) { child in
            try await child.tell(.job(job(url, delivery)))
            let staged = try #require(try await child.stage("abc").staged)
            #expect(staged.destination == url.prefix { $0 != "?" } + "?…")
            #expect(try await Origin.shared.lines(name) == [])
            try await child.tell(.publish)
            guard case .published(let etags) = try await child.outcome() else {
                Issue.record("not published")
                return
            }
            #expect(etags == [0: "\"one\""])
            #expect(try await child.end().isEnded)
        }
        #expect(try await Origin.shared.body(name) == "abc")
        let line = "\(method.rawValue) X-Signature=planted-secret audio/flac BlockBlob"
        #expect(try await Origin.shared.lines(name) == [line])
    }

    @Test(
        arguments: [
            ("put-busy", 1, nil), ("put-busy", 9, .outputFailed), ("put-denied", 9, .outputDenied),
            ("put-exists", 9, .outputExists),
        ] as [(String, Int, ErrorCode?)])
    func `a server that refuses for now is asked again, and one that refuses for good is not`(
        behaviour: String, times: Int, code: ErrorCode?
    ) async throws {
        let name = "\(behaviour)-\(times)"
        var policy = RemoteSourceTests.policy
        policy.maxResumes = 2
        let url = try await Origin.shared.url(behaviour, name, times) + "?X-Signature=planted-secret"
        try await withTransfer(policy) { child in
            try await child.tell(.job(job(url)))
            _ = try await child.stage("abc")
            try await child.tell(.publish)
            let report = try await child.outcome()
            #expect(report.isPublished == (code == nil) && report.failure?.code == code, "\(report)")
            #expect(!"\(report)".contains("planted-secret"))
        }
        #expect(try await Origin.shared.body(name) == (code == nil ? "abc" : nil))
    }

    /// One never ends its answer, and one asks to be asked again in half a minute, so that requests that end in time do not add up.
    @Test(arguments: [("put-drip", 0, "RESPOOL_MIN_OUTPUT_RATE"), ("put-later", 9, "was not published within 9 s")])
    func `a server that never ends is left after a time that depends on the size`(
        behaviour: String, times: Int, words: String
    ) async throws {
        var policy = RemoteSourceTests.policy
        (policy.connectTimeout, policy.firstByteTimeout) = (1, 3)
        let url = try await Origin.shared.url(behaviour, behaviour, times)
        try await withTransfer(policy) { child in
            try await child.tell(.job(job(url)))
            _ = try await child.stage("abc")
            try await child.tell(.publish)
            let failure = try await child.outcome().failure
            #expect(failure?.code == .outputFailed && failure?.retryable == true)
            #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
            #expect(try await child.end().isEnded)
        }
    }

    @Test(arguments: ["put-busy", "put-replaced"])
    func `a file that a web server has made is deleted again, and one that it has replaced is not`(
        behaviour: String
    ) async throws {
        let name = "taken-back-\(behaviour)"
        let urls = [
            try await Origin.shared.url(behaviour, name), try await Origin.shared.url("put-denied", name + "-2", 9),
        ]
        try await withTransfer(RemoteSourceTests.policy) { child in
            var job = job(urls[0])
            job.outputs.append(.init(urls[1], defaultName: "job-2.mp3"))
            job.isAtomic = true
            try await child.tell(.job(job))
            for index in urls.indices { #expect(try await child.stage("abc", output: index).staged != nil) }
            try await child.tell(.publish)
            #expect(try await child.outcome().failure?.code == .outputDenied)
            #expect(try await child.ending().isEnded)
        }
        #expect(try await Origin.shared.body(name) == (behaviour == "put-replaced" ? "abc" : nil))
    }

    @Test(arguments: ["put-error", "put-long"]) func `any text after a server's success is ignored`(
        behaviour: String
    ) async throws {
        let url = try await Origin.shared.url(behaviour, behaviour)
        try await withTransfer(RemoteSourceTests.policy) { child in
            try await child.tell(.job(job(url)))
            _ = try await child.stage("abc")
            try await child.tell(.publish)
            guard case .published(let etags) = try await child.outcome() else {
                Issue.record("not published")
                return
            }
            #expect(etags == [:])
        }
        #expect(try await Origin.shared.body(behaviour) == "abc")
    }

    @Test func `a server at an address that is not public gets nothing, nor does one URL get several files`()
        async throws
    {
        let url = try await Origin.shared.url("put-busy", "private")
        var policy = RemoteSourceTests.policy
        // What sources may come from is nowhere for outputs to go.
        policy.allowedOutputHosts = []
        try await withTransfer(policy) { child in
            try await child.tell(.job(job(url)))
            _ = try await child.stage("abc")
            try await child.tell(.publish)
            let failure = try #require(try await child.outcome().failure)
            #expect(failure.code == .outputDenied && failure.message.contains("RESPOOL_ALLOW_OUTPUT_HOSTS"))
            try await child.tell(.job(job(url, parts: [.single(".json")])))
            #expect(try await child.ask(.stage(output: 0, part: ".json")).failure?.code == .invalidRequest)
        }
        #expect(try await Origin.shared.lines("private") == [])
    }
}
