import FoundationEssentials
import Glibc
import JobSchema
import MediaTypes
import SlotIPC
import TestSupport
import Testing

/// Jobs with several outputs, and outputs of several files.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct SeveralOutputsTests {
    private let folder: TemporaryFolder
    private let root: String
    private let policy: TransferPolicy

    init() throws {
        folder = try TemporaryFolder()
        root = folder.file("out")
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        var policy = TransferPolicy()
        policy.outputRoot = root
        policy.spoolFolder = folder.path
        self.policy = policy
    }

    private func entries() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root).sorted()
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(root)/\(name)", encoding: .utf8)
    }

    private static let parts: [PartPattern] = [
        .numbered(before: "-{token}-", digits: 1, after: ".m4s"), .single("-{token}.m4s"), .single("-1.m4s"),
    ]

    private func job(
        _ places: [String?], isAtomic: Bool = false, parts: [PartPattern] = Self.parts
    ) -> TransferJob {
        TransferJob(
            id: TransferJob.testID, token: "1:abcd", sourceURL: "/none",
            outputs: places.enumerated().map { .init($1, defaultName: "job-\($0).mp3", parts: parts) },
            isAtomic: isAtomic)
    }

    private func record(_ staged: [StagedOutput], isAtomic: Bool) -> CommitRecord {
        CommitRecord(
            outputs: staged.map { output in
                let report = OutputReport(
                    url: output.destination, format: "mp3", codec: "mp3", bytes: output.bytes, duration: 0,
                    sampleRate: 44100, channels: 2, bitRate: 0, sha256: output.sha256, copied: false,
                    gapless: .init(start: 0, end: 0), damage: .init(seconds: 0, events: 0), settings: [:], warnings: [])
                return .init(
                    destination: output.destination, staged: output.staged, parts: output.parts, report: report)
            }, isAtomic: isAtomic)
    }

    @Test func `a main file is complete although its part waits for a process to close it`() async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(job(["talk.mp3"], parts: [.single(".chapters.json")])))
            try await child.begin("{}", output: 0, part: ".chapters.json")
            let held = await child.duplicateOutput()
            await child.closeOutput()
            try await child.send(.finished(output: 0, part: ".chapters.json"))
            _ = try await child.write("sound", output: 0, part: nil)
            close(held)
            let staged = try #require(try await child.outcome().staged)
            #expect(staged.destination == "\(root)/talk.mp3" && staged.parts.count == 1)
        }
    }

    @Test func `each output is published with its parts, and the main file last`() async throws {
        try await withTransfer(policy) { child in
            let others: [PartPattern] = [.single(".chapters.json"), .single("/lo/1.ts")]
            try await child.tell(.job(job(["a/talk.m3u8", nil], parts: Self.parts + others)))
            for number in 1...30 {
                let name = "-{token}-\(number).m4s"
                #expect(try await child.write("part \(number)", output: 0, part: name) == "talk-1abcd-\(number).m4s")
            }
            #expect(try await child.write("{}", output: 0, part: ".chapters.json") == "talk.chapters.json")
            #expect(try await child.write("deep", output: 0, part: "/lo/1.ts") == "talk/lo/1.ts")
            let first = try #require(try await child.stage("list", output: 0).staged)
            #expect(first.destination == "\(root)/a/talk.m3u8")
            #expect(first.partsReport?.count == 32 && first.partsReport?.files == [] && first.partsReport?.bytes == 207)
            #expect(first.parts.count == 3)
            let second = try #require(try await child.stage("b", output: 1).staged)
            #expect(second.destination == "\(root)/job-1.mp3")
            #expect(try entries().allSatisfy { $0 == "a" || $0.contains(".respool-") })
            // Thousands of finished parts hold nothing open.
            #expect(try child.openDescriptors() < 20)
            try await child.tell(.publish)
            #expect(try await child.report().isPublished)
            #expect(try text("a/talk.m3u8") == "list" && text("job-1.mp3") == "b")
            #expect(try text("a/talk-1abcd-30.m4s") == "part 30" && text("a/talk/lo/1.ts") == "deep")
            #expect(try await child.end().isEnded)
            #expect(try entries().count == 32 + 2 + 3)
        }
    }

    @Test(arguments: [
        "/../x", "/a/../../x", "/a//x", "/", "/.", "/a/b/c/d/x", ".\u{1}x", "/.respool-x", ".m3u8",
        "-" + String(repeating: "x", count: 300),
    ])
    func `a part cannot leave its output's folder`(part: String) async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(job(["talk.m3u8"], parts: [.single(part)])))
            #expect(try await child.ask(.stage(output: 0, part: part)).failure?.code == .internal)
            #expect(try await child.end().isEnded)
        }
        #expect(try entries() == [])
    }

    @Test func `two outputs cannot have one location`() async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(job(["x/a.mp3", "\(root)/y/../x/a.mp3"])))
            #expect(try await child.ask(.open).failure?.code == .outputDenied)
            #expect(try await child.ask(.stage(output: 0, part: nil)).failure?.code == .outputDenied)
        }
    }

    @Test func `a failed output is removed, and the others are published`() async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(job(["a.mp3", "b.mp3", "c.mp3"])))
            _ = try await child.stage("a", output: 0)
            _ = try await child.write("part", output: 1, part: "-1.m4s")
            try await child.send(.discard(output: 1))
            #expect(try await child.ask(.stage(output: 1, part: nil)).failure?.code == .internal)
            #expect(try await child.stage("", output: 2).failure?.code == .outputFailed)
            try await child.tell(.publish)
            #expect(try await child.report().isPublished)
            #expect(try await child.end().isEnded)
        }
        #expect(try entries() == ["a.mp3"])
    }

    @Test func `a job that fails removes the empty folders that it made, and no others`() async throws {
        try FileManager.default.createDirectory(atPath: "\(root)/old", withIntermediateDirectories: true)
        try await withTransfer(policy) { other in
            try await withTransfer(policy) { child in
                try await child.tell(.job(job(["old/new/deep/a.mp3", "old/new/b.mp3", "x/y/c.mp3"])))
                for output in 0..<3 { _ = try await child.stage("new", output: output) }
                // Its file has no name yet, and the folder looks empty.
                try await other.tell(.job(job(["x/other.mp3"])))
                _ = try await other.ask(.stage(output: 0, part: nil))
                #expect(try await child.end().isEnded)
            }
            #expect(try entries() == ["old", "x"])
            #expect(try await other.stage("whole", output: 0).staged != nil)
            try await other.tell(.publish)
            #expect(try await other.report().isPublished)
            #expect(try await other.end().isEnded)
        }
        #expect(try entries() == ["old", "x", "x/other.mp3"])
    }

    /// The files of a job that replaces two of them, and what they hold before it and behind it.
    private static let replaced = ["a.chapters.json": ("old chapters", "chapters"), "a.mp3": ("old", "new 0")]

    /// Writes the old files, and begins a job with these outputs whose child has a library preloaded.
    private func stageReplacing(
        _ places: [String], isAtomic: Bool, _ settings: [String]
    ) async throws -> (child: TransferChild, staged: [StagedOutput]) {
        for (name, text) in Self.replaced { try folder.write("out/\(name)", text: text.0) }
        let library = folder.file("steps.so")
        try await CompiledProgram.make(library, of: "publishing-steps.c", ["-shared", "-fPIC"])
        let child = try await TransferChild.start(
            policy, wrapper: ["/usr/bin/env", "LD_PRELOAD=\(library)"] + settings)
        try await child.tell(.job(job(places, isAtomic: isAtomic, parts: [.single(".chapters.json")])))
        _ = try await child.write("chapters", output: places.firstIndex(of: "a.mp3")!, part: ".chapters.json")
        var staged: [StagedOutput] = []
        for output in places.indices {
            let text = places[output] == "a.mp3" ? "new 0" : "new 1"
            staged.append(try #require(try await child.stage(text, output: output).staged))
        }
        return (child, staged)
    }

    @Test(arguments: [false, true], ["", "links", "exchange", "links,exchange"])
    func `an output that cannot be published takes the others back if all are required`(
        isAtomic: Bool, denied: String
    ) async throws {
        let (child, _) = try await stageReplacing(["b.mp3", "a.mp3", "c.mp3"], isAtomic: isAtomic, ["DENY=\(denied)"])
        let watch = FolderWatch(root)
        // A folder in its place: nothing can be renamed to it.
        try FileManager.default.createDirectory(atPath: "\(root)/c.mp3/x", withIntermediateDirectories: true)
        try await child.tell(.publish)
        let failure = try await child.report().failure
        let isKept = !isAtomic || denied != "links,exchange"
        #expect(failure?.code == (isKept ? .outputFailed : .outputDenied))
        // What cannot be kept is refused before anything is visible.
        #expect(watch.removed().contains("b.mp3") == (isAtomic && isKept))
        if !isKept { #expect(failure?.message.contains("cannot be kept") == true, "\(failure?.message ?? "")") }
        if !isAtomic { #expect(try await child.report().isPublished) }
        #expect(try await child.end().isEnded)
        await child.finish()
        try FileManager.default.removeItem(atPath: "\(root)/c.mp3")
        #expect(try entries() == ["a.chapters.json", "a.mp3"] + (isAtomic ? [] : ["b.mp3"]))
        for (name, texts) in Self.replaced { #expect(try text(name) == (isAtomic ? texts.0 : texts.1)) }
    }

    @Test(arguments: ["", "links", "exchange", "links,exchange"])
    func `parts that were replaced come back if the main file cannot be published`(denied: String) async throws {
        let (child, _) = try await stageReplacing(["a.mp3", "b.mp3"], isAtomic: false, ["DENY=\(denied)"])
        unlink("\(root)/a.mp3")
        try FileManager.default.createDirectory(atPath: "\(root)/a.mp3/x", withIntermediateDirectories: true)
        try await child.tell(.publish)
        #expect(try await child.report().failure?.code == .outputFailed)
        #expect(try await child.report().isPublished)
        #expect(try await child.end().isEnded)
        await child.finish()
        // They are replaced even where they cannot be kept.
        let parts = denied == "links,exchange" ? [] : ["a.chapters.json"]
        #expect(try entries() == parts + ["a.mp3", "a.mp3/x", "b.mp3"])
        if !parts.isEmpty { #expect(try text("a.chapters.json") == "old chapters") }
    }

    /// Stages two outputs, kills the child, and does by hand what it had come to.
    private func lose(isAtomic: Bool, published: Int) async throws -> CommitRecord {
        let child = try await TransferChild.start(policy)
        try await child.tell(.job(job(["a.mp3", "b.mp3"], isAtomic: isAtomic)))
        _ = try await child.write("part", output: 0, part: "-{token}.m4s")
        var staged: [StagedOutput] = []
        for output in 0..<2 {
            staged.append(try #require(try await child.stage("new \(output)", output: output).staged))
        }
        kill(child.pid, SIGKILL)
        #expect(await child.finish() == nil)
        if published > 0 { #expect(rename(staged[0].part("a-1abcd.m4s"), root + "/a-1abcd.m4s") == 0) }
        for output in staged.prefix(published) { #expect(rename(output.staged, output.destination) == 0) }
        return record(staged, isAtomic: isAtomic)
    }

    @Test func `a job that was killed between two outputs is recovered`() async throws {
        #expect(try await recoverCommit(lose(isAtomic: false, published: 1), policy) == .removed)
        #expect(try entries() == ["a-1abcd.m4s", "a.mp3"])
        #expect(try await recoverCommit(lose(isAtomic: true, published: 1), policy) == .removed)
        #expect(try entries() == [])
        for isAtomic in [false, true] {
            #expect(try await recoverCommit(lose(isAtomic: isAtomic, published: 2), policy) == .published)
            #expect(try entries() == ["a-1abcd.m4s", "a.mp3", "b.mp3"])
        }
        for name in ["a-1abcd.m4s", "a.mp3", "b.mp3"] { unlink("\(root)/\(name)") }
        for isAtomic in [false, true] {
            #expect(try await recoverCommit(lose(isAtomic: isAtomic, published: 0), policy) == .removed)
        }
        #expect(try entries() == [])
    }

    @Test(arguments: [false, true], ["", "exchange"])
    func `a job that was killed at any step of publishing is recovered`(isAtomic: Bool, denied: String) async throws {
        var (step, wasKilled) = (0, true)
        while wasKilled {
            step += 1
            let (child, staged) = try await stageReplacing(
                ["a.mp3", "b.mp3"], isAtomic: isAtomic, ["DENY=\(denied)", "KILL_AT=\(step)"])
            try await child.tell(.publish)
            _ = try? await child.report()
            _ = try? await child.end()
            wasKilled = await child.finish() == nil
            let recovered = try await recoverCommit(record(staged, isAtomic: isAtomic), policy)
            let found = try Dictionary(uniqueKeysWithValues: entries().map { ($0, try text($0)) })
            let old = Self.replaced.mapValues(\.0)
            let new = Self.replaced.mapValues(\.1).merging(["b.mp3": "new 1"]) { $1 }
            if recovered == .published {
                #expect(found == new, "step \(step)")
            } else if isAtomic {
                #expect(found == old, "step \(step)")
            } else {
                #expect(
                    found.allSatisfy { old[$0.key] == $0.value || new[$0.key] == $0.value }, "step \(step): \(found)")
                #expect(Set(old.keys).isSubset(of: found.keys), "step \(step): \(found)")
                // The parts are those of the main file.
                let isOld = (found["a.mp3"] == "old", found["a.chapters.json"] == "old chapters")
                #expect(isOld.0 == isOld.1, "step \(step): \(found)")
            }
            for name in found.keys { unlink("\(root)/\(name)") }
        }
        #expect(step > 3)
    }

    @Test func `files that a lost owner of all-or-nothing outputs had replaced are restored`() async throws {
        let record = try await lose(isAtomic: true, published: 1)
        // As the publishing of one output over another leaves it.
        let staged = URL(filePath: record.outputs[0].staged)
        let kept = staged.lastPathComponent.replacing(".respool-", with: ".respool_")
        try folder.write("out/\(kept)", text: "old")
        #expect(try await recoverCommit(record, policy) == .removed)
        #expect(try entries() == ["a.mp3"])
        #expect(try text("a.mp3") == "old")
    }

    @Test func `a sweep leaves parts alone while their main file is held`() async throws {
        let child = try await TransferChild.start(policy)
        try await child.tell(.job(job(["talk.m3u8"])))
        _ = try await child.write("part", output: 0, part: "-1.m4s")
        _ = try await child.stage("list", output: 0)
        let before = try entries()
        #expect(before.count == 2)
        try await withTransfer(policy) { other in _ = try await other.end() }
        #expect(try entries() == before)
        kill(child.pid, SIGKILL)
        await child.finish()
        try await withTransfer(policy) { other in _ = try await other.end() }
        #expect(try entries() == [])
    }
}
