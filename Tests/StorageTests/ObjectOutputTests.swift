import FoundationEssentials
import Glibc
import JobSchema
import MediaTypes
import SlotIPC
import TestSupport
import Testing

@testable import LocalFiles

/// Outputs in a bucket: whole and once, or not at all, and nothing of them left behind.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ObjectOutputTests {
    private let store = ObjectStore.shared
    /// Three parts of half a mebibyte and some bytes.
    private static let large = String(repeating: "0123456789abcdef", count: 100_000)
    private static let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    private func policy() async throws -> TransferPolicy {
        var policy = try await store.policy()
        policy.s3.partBytes = 1 << 19
        return policy
    }

    private func stage(_ text: String, _ child: TransferChild, output: Int = 0) async throws -> TransferReport {
        _ = try await child.write(text, output: output, part: nil)
        return try await child.outcome()
    }

    @Test func `a small object is put when it is published, with its encryption and storage class`() async throws {
        var policy = try await policy()
        policy.s3.encryption = "AES256"
        policy.s3.storageClass = "STANDARD_IA"
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test("/none", output: "s3://small/a folder/b+é.mp3")))
            let staged = try #require(try await stage("abc", child).staged)
            #expect(staged.destination == "s3://small/a folder/b+é.mp3" && staged.sha256 == Self.sum)
            #expect(try await store.requests("small") == [])
            try await child.tell(.publish)
            guard case .published(let etags) = try await child.outcome() else {
                Issue.record("not published")
                return
            }
            let object = try #require(try await store.content("small").objects["a folder/b+é.mp3"])
            #expect(object.sha256 == Self.sum && object.encryption == "AES256" && object.storage == "STANDARD_IA")
            #expect(object.metadata["content-type"] == "audio/mpeg" && etags == [0: object.etag])
        }
    }

    @Test func `a large object is sent in parts, and visible when it is published`() async throws {
        try await withTransfer(try await policy()) { child in
            try await child.tell(.job(.test("/none", output: "s3://large/a.flac")))
            let staged = try #require(try await stage(Self.large, child).staged)
            let before = try await store.content("large")
            #expect(before.objects.isEmpty && before.uploads == ["a.flac"])
            try await child.tell(.publish)
            guard case .published(let etags) = try await child.outcome() else {
                Issue.record("not published")
                return
            }
            let after = try await store.content("large")
            #expect(after.objects["a.flac"]?.sha256 == staged.sha256 && after.uploads == [])
            #expect(after.objects["a.flac"]?.size == Self.large.utf8.count)
            #expect(etags == [0: try #require(after.objects["a.flac"]).etag])
        }
        #expect(try await store.requests("large").count { $0.contains("partNumber=") } == 4)
    }

    @Test(arguments: ["PUT.*partNumber=2", "POST.*uploads=", "POST.*uploadId="].enumerated().map { ($0, $1) })
    func `a transient failure is retried`(number: Int, pattern: String) async throws {
        for (index, action) in ["503", "drop", "late-error"].enumerated() {
            guard action != "late-error" || pattern.contains("POST.*uploadId") else { continue }
            let bucket = "again-\(number)-\(index)"
            try await store.spoil(bucket, "\(pattern) 1 \(action)")
            try await withTransfer(try await policy()) { child in
                try await child.tell(.job(.test("/none", output: "s3://\(bucket)/a.flac")))
                let staged = try #require(try await stage(Self.large, child).staged)
                try await child.tell(.publish)
                #expect(try await child.outcome().isPublished)
                let content = try await store.content(bucket)
                #expect(content.objects["a.flac"]?.sha256 == staged.sha256 && content.uploads == [])
            }
            let requests = try await store.requests(bucket)
            #expect(try requests.count { try Regex(pattern).firstMatch(in: $0) != nil } == 2, "\(requests)")
        }
    }

    /// Half of each request arrives, once or again and again.
    @Test(
        arguments: ["POST.*uploads=", "POST.*uploadId="] + (1...4).map { "PUT.*partNumber=\($0)&" }, [1, 9])
    func `an upload that is cut at a part leaves the whole object or nothing`(pattern: String, times: Int) async throws
    {
        let bucket = "cut-\(pattern.filter { $0.isLetter || $0.isNumber }.lowercased())-\(times)"
        var policy = try await policy()
        policy.maxResumes = 2
        // Sockets hold less than five mebibytes, so one part is cut while it is sent.
        let isLarge = pattern.contains("partNumber=2") && times == 1
        if isLarge { policy.s3.partBytes = 5 << 20 }
        let object = String(repeating: Self.large, count: isLarge ? 8 : 1)
        try await store.spoil(bucket, "\(pattern) \(times) half")
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test("/none", output: "s3://\(bucket)/a.flac")))
            var report = try await stage(object, child)
            let sum = report.staged?.sha256
            if sum != nil {
                try await child.tell(.publish)
                report = try await child.outcome()
            }
            #expect(report.isPublished == (times == 1))
            if let failure = report.failure {
                #expect(failure.code == .outputFailed && failure.retryable, "\(failure)")
            }
            try await child.endJob()
            let content = try await store.content(bucket)
            #expect(content.uploads.isEmpty)
            #expect(content.objects.mapValues(\.sha256) == (times == 1 ? ["a.flac": try #require(sum)] : [:]))
        }
        #expect(
            try await store.requests(bucket).contains { try Regex(pattern).firstMatch(in: $0) != nil } == (times == 1))
    }

    @Test func `an earlier attempt's upload is aborted with the next one, but no older one or other key's`()
        async throws
    {
        // The store began an upload, and nobody was told its name.
        try await store.spoil("lost", "POST.*a.flac.uploads= 1 lost", "POST.*a.flac2.uploads= 1 lost")
        try await withTransfer(try await policy()) { child in
            for (key, start, left) in [("a.flac2", Int64.max, 1), ("a.flac", .max, 2), ("a.flac", 0, 1)] {
                var job = TransferJob.test("/none", output: "s3://lost/\(key)")
                job.start = start
                try await child.tell(.job(job))
                if start == .max {
                    _ = try await child.write(Self.large, output: 0, part: nil)
                    _ = try await child.outcome()
                } else {
                    _ = try await child.ask(.stage(output: 0, part: nil))
                }
                try await child.endJob()
                #expect(try await store.content("lost").uploads.count == left)
            }
            #expect(try await store.content("lost").uploads == ["a.flac2"])
        }
    }

    @Test func `a list of uploads without end is refused`() async throws {
        try await store.spoil("named", "POST.*uploads= 1 long-name")
        try await withTransfer(try await policy()) { child in
            try await child.tell(.job(.test("/none", output: "s3://named/a.flac")))
            let failure = try #require(try await stage(Self.large, child).failure)
            #expect(failure.code == .outputFailed && failure.message.hasSuffix("2000 bytes"), "\(failure)")
        }
    }

    @Test func `a recovery is repeated until an upload is aborted`() async throws {
        try await store.spoil("stuck", "DELETE.*uploadId= 2 403")
        var left: StagedOutput?
        try await withTransfer(try await policy()) { child in
            try await child.tell(.job(.test("/none", output: "s3://stuck/a.flac")))
            left = try await stage(Self.large, child).staged
            // The first of the two.
            _ = try await child.end()
        }
        try await withTransfer(try await policy()) { child in
            try await child.tell(.recoverCommit(.test(try #require(left)), job: TransferJob.testID))
            let failure = try #require(try await child.report().failure)
            #expect(failure.code == .outputDenied && failure.retryable, "\(failure)")
            #expect(try await store.content("stuck").uploads == ["a.flac"])
            try await child.tell(.recoverCommit(.test(try #require(left)), job: TransferJob.testID))
            guard case .commitRecovered(.removed) = try await child.report() else {
                Issue.record("not removed")
                return
            }
            #expect(try await store.content("stuck").uploads == [])
        }
    }

    @Test(arguments: [0, 1, 5 << 20, 80 << 30, 5 << 40] as [Int64])
    func `parts are as large as 10,000 of them must be`(length: Int64) {
        let settings = S3Settings()
        let part = settings.partBytes(ofObject: length)
        #expect((length + part - 1) / part <= 10_000 && part >= settings.partBytes)
        #expect(part == settings.partBytes || (length + part - 2) / (part - 1) > 10_000, "no larger than they must be")
    }

    @Test func `a job that ends before it is published leaves nothing`() async throws {
        try await store.spoil("ended", "PUT.*partNumber=3 9 hang")
        try await withTransfer(try await policy()) { child in
            try await child.tell(.job(.test("/none", output: "s3://ended/a.flac")))
            _ = try await child.write(Self.large, output: 0, part: nil)
            guard case .uploading = try await child.report() else {
                Issue.record("nothing is told of the upload")
                return
            }
            #expect(try await store.content("ended").uploads == ["a.flac"])
            #expect(try await child.end().isEnded)
            let content = try await store.content("ended")
            #expect(content.objects.isEmpty && content.uploads.isEmpty)
        }
    }

    @Test func `a refused abort is reported`() async throws {
        try await store.spoil("kept", "DELETE.*uploadId= 9 403")
        try await withTransfer(try await policy()) { child in
            try await child.tell(.job(.test("/none", output: "s3://kept/a.flac")))
            _ = try await stage(Self.large, child)
            guard case .ended(let leftBehind, _, _) = try await child.end() else {
                Issue.record("not ended")
                return
            }
            #expect(leftBehind?.code == .outputDenied)
            #expect(try await store.content("kept").uploads == ["a.flac"])
        }
    }

    @Test func `an abort removes all parts, however many there are`() async throws {
        try await store.spoil("many", "PUT_.*list.m3u8 9 403")
        var policy = try await policy()
        policy.maxResumes = 1
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test("/none", output: "s3://many/list.m3u8", parts: TransferJob.someParts)))
            // More than the child may have files open.
            for number in 1...260 { _ = try await child.write("x", output: 0, part: "{token}/\(number).m4s") }
            _ = try await stage("main", child)
            try await child.tell(.publish)
            #expect(try await child.outcome().failure?.code == .outputDenied)
            try await child.endJob()
        }
        #expect(try await store.content("many").objects.isEmpty)
        #expect(try await store.requests("many").count { $0.hasPrefix("DELETE_") } == 260)
    }

    /// What is at the main file's key when another owner recovers.
    @Test(arguments: ["nothing", "another", "secret"])
    func `only its own parts are removed of an output that is not visible`(what: String) async throws {
        let bucket = "settled-\(what)"
        var left: StagedOutput?
        var names: [String] = []
        try await withTransfer(try await policy()) { child in
            try await child.tell(.job(.test("/none", output: "s3://\(bucket)/a.m3u8", parts: TransferJob.someParts)))
            for part in [".chapters.json", "-{token}-1.m4s"] {
                names.append(try await child.write("x", output: 0, part: part))
            }
            left = try await stage("abc", child).staged
        }
        for name in names { try await store.seed(bucket, name, [120]) }
        if what == "another" { try await store.seed(bucket, "a.m3u8", [120]) }
        if what == "secret" { try await store.spoil(bucket, "HEAD_ 9 403") }
        try await withTransfer(try await policy()) { child in
            try await child.tell(.recoverCommit(.test(try #require(left)), job: TransferJob.testID))
            guard case .commitRecovered(.removed) = try await child.report() else {
                Issue.record("not removed")
                return
            }
        }
        let objects = try await store.content(bucket).objects
        #expect(Set(objects.keys) == Set([names[0]] + (what == "another" ? ["a.m3u8"] : [])))
    }

    @Test func `a store that does not answer at the end is asked whether it has the object`() async throws {
        // The parts are put together, and the answer is lost; a second request finds no such upload.
        try await store.spoil("unsure", "POST.*uploadId= 1 lost")
        try await withTransfer(try await policy()) { child in
            try await child.tell(.job(.test("/none", output: "s3://unsure/a.flac")))
            _ = try await stage(Self.large, child)
            try await child.tell(.publish)
            #expect(try await child.outcome().isPublished)
        }
        #expect(try await store.requests("unsure").contains { $0.hasPrefix("HEAD_") })
    }

    @Test func `parts appear before the main file, and with it`() async throws {
        try await withTransfer(try await policy()) { child in
            try await child.tell(.job(.test("/none", output: "s3://several/x/list.m3u8", parts: TransferJob.someParts)))
            let names = [
                try await child.write("one", output: 0, part: "{token}/1.m4s"),
                try await child.write("abc", output: 0, part: "{token}/2.m4s"),
            ]
            let staged = try #require(try await stage("main", child).staged)
            #expect(staged.partsReport?.count == 2)
            try await child.tell(.publish)
            #expect(try await child.outcome().isPublished)
            let objects = try await store.content("several").objects
            #expect(Set(objects.keys) == Set(names.map { "x/\($0)" } + ["x/list.m3u8"]))
            #expect(objects["x/\(names[1])"]?.sha256 == Self.sum)
        }
        #expect(try await store.requests("several").last?.contains("list.m3u8") == true)
    }

    @Test func `two owners of a job leave one whole object`() async throws {
        let old = try await TransferChild.start(try await policy())
        try await old.tell(.job(.test("/none", output: "s3://owners/a.flac", token: "1:old")))
        let left = try #require(try await stage(Self.large, old).staged)
        try await withTransfer(try await policy()) { child in
            // The next owner has the record of the old one, whose process sleeps with leave to publish.
            try await child.tell(.recoverCommit(.test(left), job: TransferJob.testID))
            guard case .commitRecovered(.removed) = try await child.report() else {
                Issue.record("not removed")
                return
            }
            try await old.tell(.publish)
            let report = try await old.outcome()
            #expect(report.failure?.code == .outputFailed, "\(report)")
            try await child.tell(.job(.test("/none", output: "s3://owners/a.flac", token: "1:new")))
            let staged = try #require(try await stage(Self.large + "new", child).staged)
            try await child.tell(.publish)
            #expect(try await child.outcome().isPublished)
            let content = try await store.content("owners")
            #expect(content.objects["a.flac"]?.sha256 == staged.sha256 && content.uploads.isEmpty)
            _ = try await child.end()
            try await child.tell(.recoverCommit(.test(staged), job: TransferJob.testID))
            guard case .commitRecovered(.published) = try await child.report() else {
                Issue.record("not known again")
                return
            }
        }
        #expect(await old.finish() == 0)
    }

    @Test func `a bucket that refuses is reported before any work is done, or in its own words`() async throws {
        var policy = try await policy()
        policy.s3.keys = nil
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test("/none", output: "s3://nobody/a.flac")))
            #expect(try await child.ask(.stage(output: 0, part: nil)).failure?.code == .outputDenied)
        }
        try await store.spoil("refusing", "PUT 9 403")
        try await withTransfer(try await self.policy()) { child in
            try await child.tell(.job(.test("/none", output: "s3://refusing/a.flac")))
            _ = try await stage("abc", child)
            try await child.tell(.publish)
            let failure = try #require(try await child.outcome().failure)
            #expect(failure.code == .outputDenied && failure.message.contains("Refused"))
        }
    }
}

extension CommitRecord {
    /// The record of one output.
    static func test(_ staged: StagedOutput, _ overwrite: Overwrite = .replace) -> CommitRecord {
        let report = OutputReport(
            url: staged.destination, format: "mp3", codec: "mp3", bytes: staged.bytes, duration: 0, sampleRate: 44100,
            channels: 2, bitRate: 0, sha256: staged.sha256, copied: false, gapless: .init(start: 0, end: 0),
            damage: .init(seconds: 0, events: 0), settings: [:], warnings: [])
        let output = Output(
            destination: staged.destination, staged: staged.staged, parts: staged.parts, report: report,
            overwrite: overwrite, identity: staged.identity)
        return CommitRecord(outputs: [output])
    }
}

extension StagedOutput {
    /// The path under which a part of it waits.
    func part(_ name: String) -> String { StagedPart.stagedName(staged, of: name) }
}
