import FoundationEssentials
import Glibc
import JobSchema
import MediaTypes
import SlotIPC
import TestSupport
import Testing

/// Outputs that may not replace what is there.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct OverwriteTests {
    private let folder: TemporaryFolder
    private let policy: TransferPolicy

    init() throws {
        folder = try TemporaryFolder()
        var policy = TransferPolicy()
        policy.outputRoot = folder.path
        self.policy = policy
    }

    private func job(
        _ places: [String], _ mode: Overwrite, isAtomic: Bool = false, token: String = "1:abcd",
        id: String = TransferJob.testID
    ) -> TransferJob {
        let outputs = places.map { place in
            var delivery = Delivery()
            delivery.overwrite = mode
            return TransferJob.Output(
                place, defaultName: "job.mp3", delivery: delivery,
                parts: place.hasPrefix("http") ? [] : [.single("-{token}.m4s"), .single(".chapters.json")])
        }
        return TransferJob(id: id, token: token, sourceURL: "/none", outputs: outputs, isAtomic: isAtomic)
    }

    /// The file's number and when it was written, as a commit record has them.
    private func identity(_ path: String) -> String {
        var found = stat()
        #expect(stat(path, &found) == 0)
        return "\(found.st_ino) \(found.st_mtim.tv_sec).\(found.st_mtim.tv_nsec)"
    }

    private func text(_ name: String) -> String? { try? String(contentsOfFile: folder.file(name), encoding: .utf8) }

    private func entries() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func `an existing output fails the job before its source is opened`() async throws {
        try folder.write("a.mp3", text: "old")
        symlink("nowhere", folder.file("link.mp3"))
        try await withTransfer(policy) { child in
            for name in ["a.mp3", "link.mp3"] {
                try await child.tell(.job(job([name], .fail)))
                let failure = try #require(try await child.ask(.open).failure)
                #expect(failure.code == .outputExists && !failure.retryable)
                #expect(failure.message.contains("'\(folder.file(name))' exists"))
                #expect(try await child.ask(.stage(output: 0, part: nil)).failure?.code == .outputExists)
                #expect(try await child.end().isEnded)
            }
        }
        #expect(try entries() == ["a.mp3", "link.mp3"] && text("a.mp3") == "old")
    }

    @Test func `an existing output is skipped, and the others are made`() async throws {
        try folder.write("a.mp3", text: "old")
        try await withTransfer(policy) { child in
            try await child.tell(.job(job(["a.mp3", "b.mp3"], .skip, isAtomic: true)))
            guard case .outputSkipped(0, folder.file("a.mp3")) = try await child.report(),
                case .checked = try await child.report()
            else {
                Issue.record("not skipped")
                return
            }
            #expect(try await child.ask(.stage(output: 0, part: nil)).failure?.code == .outputExists)
            _ = try await child.stage("new", output: 1)
            try await child.tell(.publish)
            #expect(try await child.report().isPublished)
            #expect(try await child.end().isEnded)
        }
        #expect(text("a.mp3") == "old" && text("b.mp3") == "new")
    }

    @Test(arguments: [Overwrite.fail, .skip])
    func `a file that appears meanwhile stays, and nothing else does`(mode: Overwrite) async throws {
        try await withTransfer(policy) { child in
            // A part may not be replaced either.
            for name in ["a.mp3", "b.chapters.json"] {
                try await child.tell(.job(job([name.hasPrefix("a") ? "a.mp3" : "b.mp3"], mode)))
                _ = try await child.ask(.open)
                if mode == .skip { _ = try await child.report() }
                _ = try await child.write("part", output: 0, part: "-{token}.m4s")
                _ = try await child.write("{}", output: 0, part: ".chapters.json")
                _ = try await child.stage("new")
                try folder.write(name, text: "old")
                try await child.tell(.publish)
                let report = try await child.report()
                if mode == .skip {
                    guard case .outputSkipped(0, _) = report else {
                        Issue.record("not skipped: \(report)")
                        return
                    }
                    #expect(try await child.report().isPublished)
                } else {
                    #expect(report.failure?.code == .outputExists)
                }
                #expect(try await child.end().isEnded)
                #expect(text(name) == "old")
            }
        }
        #expect(try entries() == ["a.mp3", "b.chapters.json"])
    }

    @Test func `one of two jobs for one output publishes, and the other does not`() async throws {
        let other = try await TransferChild.start(policy)
        try await withTransfer(policy) { child in
            for one in [child, other] {
                let name = one === child ? "child" : "other"
                try await one.tell(.job(job(["a.mp3"], .fail, token: name)))
                _ = try await one.stage(name)
            }
            try await other.tell(.publish)
            #expect(try await other.report().isPublished)
            try await child.tell(.publish)
            #expect(try await child.report().failure?.code == .outputExists)
        }
        #expect(await other.finish() == 0)
        #expect(try entries() == ["a.mp3"] && text("a.mp3") == "other")
    }

    /// What an earlier owner had published is taken back, so that the job can make it again; what is another's stays.
    @Test(arguments: ["own", "foreign", "equal"], [false, true])
    func `a job does not collide with its own unfinished earlier attempt`(what: String, isAtomic: Bool) async throws {
        let child = try await TransferChild.start(policy)
        try await child.tell(.job(job(["a.mp3", "b.mp3"], .fail)))
        let staged = [
            try #require(try await child.stage("a", output: 0).staged),
            try #require(try await child.stage("b", output: 1).staged),
        ]
        kill(child.pid, SIGKILL)
        _ = await child.finish()
        // The owner published the first; or somebody else was quicker, if only with the same, and the owner removed its own.
        if what == "own" {
            #expect(rename(staged[0].staged, staged[0].destination) == 0)
        } else {
            try folder.write("a.mp3", text: what == "equal" ? "a" : "z")
            unlink(staged[0].staged)
        }
        var record = CommitRecord(outputs: staged.flatMap { CommitRecord.test($0, .fail).outputs }, isAtomic: isAtomic)
        if what == "equal", let number = identity(folder.file("a.mp3")).split(separator: " ").first {
            // As if the new file had got the old one's number.
            record.outputs[0].identity = "\(number) 1.0"
        }
        try await withTransfer(policy) { child in
            try await child.tell(.recoverCommit(record, job: TransferJob.testID))
            guard case .commitRecovered(.removed) = try await child.report() else {
                Issue.record("not removed")
                return
            }
            #expect(try entries() == (what == "own" ? [] : ["a.mp3"]))
            guard what == "own" else { return }
            // All of it was published: the job has finished.
            for (index, output) in staged.enumerated() {
                let name = String(output.destination.suffix(5))
                record.outputs[index].identity = try identity(folder.write(name, text: String(name.first!)))
            }
            try await child.tell(.recoverCommit(record, job: TransferJob.testID))
            guard case .commitRecovered(.published) = try await child.report() else {
                Issue.record("not known again")
                return
            }
            // One had failed before: the job makes all of them again.
            record.outputs[1].report.error = Failure(.outputFailed, "no")
            try await child.tell(.recoverCommit(record, job: TransferJob.testID))
            guard case .commitRecovered(.removed) = try await child.report() else {
                Issue.record("not removed")
                return
            }
            #expect(try entries() == ["b.mp3"])
        }
    }

    // MARK: - Stores

    private static let large = String(repeating: "0123456789abcdef", count: 1 << 16)
    private let store = ObjectStore.shared

    private func storePolicy() async throws -> TransferPolicy {
        var policy = try await store.policy()
        policy.s3.partBytes = 1 << 19
        return policy
    }

    @Test func `an existing object is not replaced, and nothing is uploaded in vain`() async throws {
        try await store.seed("exists", "a.mp3", Array("old".utf8))
        try await withTransfer(try await storePolicy()) { child in
            try await child.tell(.job(job(["s3://exists/a.mp3"], .fail)))
            #expect(try await child.ask(.open).failure?.code == .outputExists)
            _ = try await child.end()
            try await child.tell(.job(job(["s3://exists/a.mp3"], .skip)))
            guard case .outputSkipped(0, "s3://exists/a.mp3") = try await child.report(),
                case .checked = try await child.report()
            else {
                Issue.record("not skipped")
                return
            }
        }
        #expect(try await store.requests("exists").allSatisfy { $0.hasPrefix("HEAD_") })
    }

    /// The look before the request finds nothing, as where two jobs publish at once: the store itself must refuse.
    @Test(arguments: ["small", "large"]) func `an object that appears meanwhile stays`(size: String) async throws {
        let bucket = "race-\(size)"
        try await store.spoil(bucket, "HEAD_ 9 404")
        try await withTransfer(try await storePolicy()) { child in
            try await child.tell(.job(.test("/none", output: "s3://\(bucket)/a.mp3")))
            _ = try await child.stage("old")
            try await child.tell(.publish)
            #expect(try await child.outcome().isPublished)
            _ = try await child.end()
            try await child.tell(.job(job(["s3://\(bucket)/a.mp3"], .fail)))
            _ = try await child.write(size == "small" ? "new" : Self.large, output: 0, part: nil)
            #expect(try await child.outcome().staged != nil)
            try await child.tell(.publish)
            let failure = try #require(try await child.outcome().failure)
            #expect(failure.code == .outputExists, "\(failure)")
            try await child.endJob()
        }
        let content = try await store.content(bucket)
        #expect(content.objects["a.mp3"]?.size == 3 && content.uploads == [])
    }

    @Test(arguments: ["PUT_ 1 lost", "PUT_ 1 501", "HEAD_ 9 403", "PUT_ 1 503"])
    func `a lost answer and a store with fewer features do not stop the job`(rule: String) async throws {
        let bucket = "odd-\(rule.split(separator: " ").joined().lowercased().filter { $0 != "_" })"
        try await store.spoil(bucket, rule)
        try await withTransfer(try await storePolicy()) { child in
            try await child.tell(.job(job(["s3://\(bucket)/a.mp3"], .fail)))
            _ = try await child.write("new", output: 0, part: nil)
            #expect(try await child.outcome().staged != nil)
            try await child.tell(.publish)
            let report = try await child.outcome()
            #expect(report.isPublished, "\(report)")
        }
        #expect(try await store.content(bucket).objects["a.mp3"]?.size == 3)
    }

    @Test func `an object that an earlier attempt published is taken back, and no other's`() async throws {
        var staged: [StagedOutput] = []
        try await withTransfer(try await storePolicy()) { child in
            try await child.tell(.job(job(["s3://half/a.mp3", "s3://half/b.mp3"], .fail)))
            for index in 0...1 {
                _ = try await child.write("new", output: index, part: nil)
                staged.append(try #require(try await child.outcome().staged))
            }
            try await child.tell(.publish)
            #expect(try await child.outcome().isPublished)
            _ = try await child.end()
            // The second is another's by now.
            try await child.tell(.job(.test("/none", output: "s3://half/b.mp3")))
            _ = try await child.stage("other")
            try await child.tell(.publish)
            #expect(try await child.outcome().isPublished)
            _ = try await child.end()
            try await child.tell(
                .recoverCommit(
                    CommitRecord(outputs: staged.flatMap { CommitRecord.test($0, .fail).outputs }),
                    job: TransferJob.testID))
            guard case .commitRecovered(.removed) = try await child.report() else {
                Issue.record("not removed")
                return
            }
        }
        #expect(try await store.content("half").objects.mapValues(\.size) == ["b.mp3": 5])
    }

    /// An equal object that another job made appears between the looks before a job and at its end, or between that and the
    /// request.
    @Test(arguments: [1, 2]) func `an equal object belongs to another job if that made it`(looks: Int) async throws {
        let bucket = "equal-\(looks)"
        try await store.spoil(bucket, "HEAD_ \(looks) 404")
        var staged: StagedOutput?
        try await withTransfer(try await storePolicy()) { child in
            try await child.tell(.job(.test("/none", output: "s3://\(bucket)/a.mp3")))
            staged = try await child.stage("same").staged
            try await child.tell(.publish)
            #expect(try await child.outcome().isPublished)
            try await child.endJob()
            try await child.tell(.job(job(["s3://\(bucket)/a.mp3"], .fail, id: "8-0")))
            _ = try await child.write("same", output: 0, part: nil)
            #expect(try await child.outcome().staged?.sha256 == staged?.sha256)
            try await child.tell(.publish)
            let failure = try #require(try await child.outcome().failure)
            #expect(failure.code == .outputExists, "\(failure)")
            try await child.endJob()
            for (id, expected) in [("8-0", RecoveredCommit.removed), (TransferJob.testID, .published)] {
                try await child.tell(.recoverCommit(.test(try #require(staged), .fail), job: id))
                guard case .commitRecovered(expected) = try await child.report() else {
                    Issue.record("not \(expected) to \(id)")
                    return
                }
            }
        }
        #expect(try await store.content(bucket).objects["a.mp3"]?.size == 4)
    }

    // MARK: - URLs

    @Test func `a web server gets the condition, and its answer is trusted`() async throws {
        try await withTransfer(RemoteSourceTests.policy) { child in
            let url = try await Origin.shared.url("put-once", "overwritten")
            for (mode, isMade) in [(Overwrite.fail, true), (.fail, false), (.skip, false), (.replace, true)] {
                try await child.tell(.job(job([url], mode)))
                if mode == .skip { _ = try await child.report() }
                _ = try await child.stage("\(mode)")
                try await child.tell(.publish)
                let report = try await child.outcome()
                switch mode {
                case .skip:
                    guard case .outputSkipped(0, url) = report else {
                        Issue.record("not skipped: \(report)")
                        return
                    }
                    #expect(try await child.report().isPublished)
                default: #expect(report.isPublished == isMade && report.failure?.code == (isMade ? nil : .outputExists))
                }
                try await child.endJob()
                #expect(try await Origin.shared.body("overwritten") == (mode == .replace ? "replace" : "fail"))
            }
        }
    }
}
