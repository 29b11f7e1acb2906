import FoundationEssentials
import JobSchema
import SlotIPC
import TestSupport
import Testing

/// Outputs on servers that speak no HTTP.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct FileServerOutputTests {
    private func job(_ url: String, credentials: String? = nil) -> TransferJob {
        var delivery = Delivery()
        delivery.credentials = credentials
        return TransferJob(
            id: "1700000000000-0", token: "1:abcd", sourceURL: "/none",
            outputs: [.init(url, defaultName: "job.mp3", delivery: delivery)])
    }

    /// Publishes a text at the URL, and answers what was said of it.
    private func publish(_ text: String, _ job: TransferJob, by child: TransferChild) async throws -> TransferReport {
        try await child.tell(.job(job))
        var report = try await child.stage(text)
        if report.staged != nil {
            try await child.tell(.publish)
            report = try await child.outcome()
        }
        try await child.endJob()
        return report
    }

    @Test(arguments: ["ftp", "sftp"])
    func `an output is sent before it is published, and removed if it is not`(scheme: String) async throws {
        let servers = try await FileServers.start()
        let folder = servers.folder.file("root/unpublished")
        let names = { try FileManager.default.contentsOfDirectory(atPath: folder) }
        try await withTransfer(servers.policy) { child in
            try await child.tell(.job(job(servers.url(scheme, "unpublished/new.mp3"))))
            #expect(try await child.stage("abc").staged != nil)
            let staged = try names()
            #expect(staged.count == 1 && staged[0].hasPrefix(".respool-"), "\(staged)")
            try await child.endJob()
            #expect(try names() == [])
        }
    }

    @Test func `an upload that its server holds up is removed when the job ends`() async throws {
        let servers = try await FileServers.start()
        try await withTransfer(servers.policy) { child in
            try await child.tell(.job(job(servers.url("ftp", "held/new.mp3"))))
            // More than sockets hold.
            _ = try await child.write(String(repeating: "much more of it ", count: 1 << 20), output: 0, part: nil)
            try await eventually("the upload is held up") { servers.reads.contains { $0.hasPrefix("held ") } }
            #expect(try await child.isSilent(milliseconds: 0))
            try await child.endJob()
            #expect(try FileManager.default.contentsOfDirectory(atPath: servers.folder.file("root/held")) == [])
        }
    }

    @Test func `a file that could not be renamed is sent again`() async throws {
        let servers = try await FileServers.start()
        var policy = servers.policy
        policy.maxResumes = 2
        try await withTransfer(policy) { child in
            let report = try await publish("abc", job(servers.url("ftp", "named-450/new.mp3")), by: child)
            #expect(report.isPublished, "\(report)")
        }
        let folder = servers.folder.file("root/named-450")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["new.mp3"])
    }

    @Test(arguments: ["ftp", "sftp"], [false, true])
    func `an output of several that are all required takes nothing away`(scheme: String, isPublished: Bool) async throws
    {
        let servers = try await FileServers.start()
        let folder = servers.folder.file("root/all")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try servers.folder.write("root/all/old.mp3", text: "old")
        let last = isPublished ? "put-busy" : "put-denied"
        let urls = [
            servers.url(scheme, "all/new.mp3"), servers.url(scheme, "all/old.mp3"),
            try await Origin.shared.url(last, "all-\(scheme)-\(last)", isPublished ? 0 : 9),
        ]
        try await withTransfer(servers.policy) { child in
            let job = TransferJob(
                id: TransferJob.testID, token: "1:abcd", sourceURL: "/none",
                outputs: urls.map { .init($0, defaultName: "job.mp3") }, isAtomic: true)
            try await child.tell(.job(job))
            for index in urls.indices { #expect(try await child.stage("text", output: index).staged != nil) }
            try await child.tell(.publish)
            #expect(try await child.outcome().isPublished == isPublished)
            try await child.endJob()
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(names == (isPublished ? ["new.mp3"] : []) + ["old.mp3"])
        #expect(try String(contentsOfFile: folder + "/old.mp3", encoding: .utf8) == (isPublished ? "text" : "old"))
    }

    @Test(arguments: ["ftp", "sftp"])
    func `an output gets its name when it is complete, and replaces an old file`(scheme: String) async throws {
        let servers = try await FileServers.start()
        let folder = servers.folder.file("root/made here/twice")
        try await withTransfer(servers.policy) { child in
            for text in ["abc", String(repeating: "much more of it ", count: 20_000), "less"] {
                let job = job(servers.url(scheme, "made%20here/twice/it's%20%22new%22.mp3"))
                let report = try await publish(text, job, by: child)
                #expect(report.isPublished, "\(report)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["it's \"new\".mp3"])
                #expect(try String(contentsOfFile: folder + "/it's \"new\".mp3", encoding: .utf8) == text)
            }
        }
    }

    @Test(arguments: ["ftp", "sftp"])
    func `the protocols are off by default, and restricted to the addresses for outputs`(
        scheme: String
    ) async throws {
        let servers = try await FileServers.start()
        let url = servers.url(scheme, "new.mp3")
        var policy = servers.policy
        policy.outputSchemes = []
        try await withTransfer(policy) { child in
            try await child.tell(.job(job(url)))
            let failure = try #require(try await child.ask(.stage(output: 0, part: nil)).failure)
            #expect(failure.code == .outputDenied && failure.message.contains("RESPOOL_OUTPUT_SCHEMES"))
            #expect(!failure.message.contains("secret"))
        }
        policy = servers.policy
        policy.allowedOutputHosts = []
        try await withTransfer(policy) { child in
            let failure = try #require(try await publish("abc", job(url), by: child).failure)
            #expect(failure.code == .outputDenied && failure.message.contains("RESPOOL_ALLOW_OUTPUT_HOSTS"))
        }
        #expect(!FileManager.default.fileExists(atPath: servers.folder.file("root/new.mp3")))
    }

    @Test(arguments: ["ftp", "sftp"]) func `credentials are read by name, and a refusal is reported`(
        scheme: String
    ) async throws {
        let servers = try await FileServers.start()
        try FileManager.default.createDirectory(
            atPath: servers.folder.file("root/taken"), withIntermediateDirectories: false)
        var policy = servers.policy
        policy.maxResumes = 1
        let origin = "\(scheme)://127.0.0.1:\(scheme == "sftp" ? servers.sftp : servers.ftp)"
        policy.credentials.lines = "right \(origin) basic me:secret\nwrong \(origin) basic me:planted"
        try await withTransfer(policy) { child in
            #expect(try await publish("abc", job(origin + "/by-name.mp3", credentials: "right"), by: child).isPublished)
            let wrong = try #require(
                try await publish("abc", job(origin + "/by-name.mp3", credentials: "wrong"), by: child).failure)
            #expect(wrong.code == .outputDenied && !wrong.message.contains("planted"), "\(wrong.message)")
            // A folder is in the way.
            let taken = try #require(
                try await publish("abc", job(origin + "/taken", credentials: "right"), by: child).failure)
            // SFTP has no reply that says for how long.
            let (code, words) =
                scheme == "sftp" ? (ErrorCode.outputFailed, "renaming it") : (.outputDenied, "replied 550")
            #expect(taken.code == code && taken.message.contains(words), "\(taken)")
        }
        #expect(try String(contentsOfFile: servers.folder.file("root/by-name.mp3"), encoding: .utf8) == "abc")
    }

    @Test func `FTP over TLS sends data only to the host that the certificate names`() async throws {
        let servers = try await FileServers.start()
        let job = job(servers.url("ftps", "safe/one.mp3"))
        var policy = servers.policy
        policy.maxResumes = 1
        try await withTransfer(policy) { child in
            let failure = try #require(try await publish("abc", job, by: child).failure)
            #expect(failure.code == .outputFailed && failure.message.contains("certificate"), "\(failure)")
        }
        #expect(!FileManager.default.fileExists(atPath: servers.folder.file("root/safe")))
        policy.certificateFile = try await Origin.shared.certificateFile()
        try await withTransfer(policy) { child in
            let report = try await publish("abc", job, by: child)
            #expect(report.isPublished, "\(report)")
        }
        #expect(try String(contentsOfFile: servers.folder.file("root/safe/one.mp3"), encoding: .utf8) == "abc")
    }

    @Test func `a server without TLS for the data connection is refused`() async throws {
        let servers = try await FileServers.start()
        var policy = servers.policy
        policy.certificateFile = try await Origin.shared.certificateFile()
        policy.maxResumes = 1
        try await withTransfer(policy) { child in
            let job = job("ftps://me:secret@localhost:\(servers.half)/half.mp3")
            let failure = try #require(try await publish("abc", job, by: child).failure)
            #expect(failure.code == .outputFailed && failure.message.contains("TLS"), "\(failure)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: servers.folder.file("root"))
        #expect(!names.contains { $0.contains("respool") || $0 == "half.mp3" }, "\(names)")
    }

    /// Replies to the first byte, to the last one, and to the name.
    @Test(
        arguments: ["reply-421", "reply-450", "reply-452", "after-451", "named-450"].map { ($0, true) }
            + ["reply-532", "reply-550", "reply-553", "after-552", "after-550", "named-553"].map { ($0, false) })
    func `an upload is repeated after a temporary refusal, and not after a permanent one`(
        folder: String, isRetryable: Bool
    ) async throws {
        let servers = try await FileServers.start()
        let job = job(servers.url("ftp", "\(folder)/new.mp3"))
        let reply = folder.suffix(3)
        var policy = servers.policy
        policy.maxResumes = 1
        try await withTransfer(policy) { child in
            let failure = try #require(try await publish("abc", job, by: child).failure)
            #expect(failure.code == (isRetryable ? .outputFailed : .outputDenied), "\(failure)")
            let tells = isRetryable || !folder.hasPrefix("reply")
            #expect(
                failure.retryable == isRetryable && failure.message.contains("replied \(reply)") == tells, "\(failure)")
            // Only the first is refused.
            let report = try await publish("abc", job, by: child)
            #expect(report.isPublished, "\(report)")
        }
    }

    @Test(arguments: [("none", true), ("unknown", true), ("blank", false)])
    func `an output gets its name if it is complete, as far as the server reports`(
        size: String, isPublished: Bool
    ) async throws {
        let servers = try await FileServers.start()
        let job = job(servers.url("ftp", "size-\(size)/new.mp3"))
        var policy = servers.policy
        policy.maxResumes = 1
        try await withTransfer(policy) { child in
            let report = try await publish("abc", job, by: child)
            #expect(report.isPublished == isPublished, "\(report)")
            #expect(report.failure?.retryable == (isPublished ? nil : true))
        }
    }

    @Test func `an upload is repeated if the server admits no login for now`() async throws {
        let servers = try await FileServers.start()
        var policy = servers.policy
        policy.maxResumes = 1
        try await withTransfer(policy) { child in
            let job = job(servers.url("ftp", "new.mp3", user: "early:secret@"))
            let failure = try #require(try await publish("abc", job, by: child).failure)
            #expect(failure.code == .outputFailed && failure.retryable && failure.message.contains("replied 430"))
        }
    }

    /// The last is sent whole before it is cut.
    @Test(arguments: [("reset", 1 << 24), ("closed", 1 << 24), ("gone", 1 << 24), ("closed", 300_000)], [1, 2])
    func `an upload that is cut off has no name until another attempt completes it`(
        fault: (kind: String, length: Int), attempts: Int
    ) async throws {
        let servers = try await FileServers.start()
        let folder = servers.folder.file("root/lost-\(fault.kind)")
        let text = String(repeating: "much more of it ", count: fault.length / 16)
        var policy = servers.policy
        policy.maxResumes = attempts
        try await withTransfer(policy) { child in
            let job = job(servers.url("ftp", "lost-\(fault.kind)/new.mp3"))
            if attempts == 1 {
                let failure = try #require(try await publish(text, job, by: child).failure)
                #expect(failure.code == .outputFailed && failure.retryable, "\(failure)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
            }
            let report = try await publish(text, job, by: child)
            #expect(report.isPublished, "\(report)")
        }
        #expect(try String(contentsOfFile: folder + "/new.mp3", encoding: .utf8) == text)
    }

    @Test func `an output starts in the user's home folder if the URL says so`() async throws {
        let servers = try await FileServers.start()
        try await withTransfer(servers.policy) { child in
            for text in ["abc", "others"] {
                let job = job(servers.url("sftp", "~/made%20here/it's%20%22new%22.mp3"))
                let report = try await publish(text, job, by: child)
                #expect(report.isPublished, "\(report)")
                let folder = servers.folder.file("root/home/made here")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["it's \"new\".mp3"])
                #expect(try String(contentsOfFile: folder + "/it's \"new\".mp3", encoding: .utf8) == text)
            }
        }
    }

    @Test(arguments: ["a%0d%0aDELE%20content", "a%00b", "a%2fb", "..", "a;type=a/content"])
    func `no name is another command, another file or another folder`(name: String) async throws {
        let servers = try await FileServers.start()
        try await withTransfer(servers.policy) { child in
            for scheme in ["ftp", "sftp"] {
                try await child.tell(.job(job(servers.url(scheme, name))))
                let answer = try await child.ask(.stage(output: 0, part: nil))
                #expect(answer.failure?.code == .invalidRequest, "\(answer)")
                try await child.endJob()
            }
        }
        #expect(try Data(contentsOf: URL(filePath: servers.folder.file("root/content"))) == Data(Origin.content))
    }

    @Test func `two outputs in one missing folder both arrive`() async throws {
        let servers = try await FileServers.start()
        try await withTransfer(servers.policy) { child in
            // The server says that the folder cannot be made, for it has been made meanwhile.
            let report = try await publish("abc", job(servers.url("ftp", "raced/new.mp3")), by: child)
            #expect(report.isPublished, "\(report)")
        }
        #expect(try String(contentsOfFile: servers.folder.file("root/raced/new.mp3"), encoding: .utf8) == "abc")
    }
}
