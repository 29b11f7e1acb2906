import FoundationEssentials
import Glibc
import JobSchema
import MediaTypes
import SlotIPC
import TestSupport
import Testing

/// What is left of a job whose owner went away.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct CommitRecoveryTests {
    private let folder: TemporaryFolder
    private let policy: TransferPolicy
    private static let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    init() throws {
        folder = try TemporaryFolder()
        var policy = TransferPolicy()
        policy.outputRoot = folder.path
        self.policy = policy
    }

    private func entries() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func `a killed owner leaves nothing visible, and the job runs again`() async throws {
        let child = try await TransferChild.start(policy)
        try await child.tell(.job(.test("/none", output: "deep/a.mp3")))
        let staged = try #require(try await child.stage("abc").staged)
        kill(child.pid, SIGKILL)
        #expect(await child.finish() == nil)
        #expect(try entries() == ["deep", String(staged.staged.dropFirst(folder.path.count + 1))])
        #expect(try await recoverCommit(.test(staged), policy) == .removed)
        #expect(try entries() == ["deep"])
    }

    @Test func `a published output is recognised`() async throws {
        var staged: StagedOutput?
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test("/none", output: "a.mp3")))
            staged = try await child.stage("abc").staged
            try await child.tell(.publish)
            #expect(try await child.report().isPublished)
            try await child.tell(.publish)
            #expect(try await child.report().isPublished)
        }
        #expect(try await recoverCommit(.test(#require(staged)), policy) == .published)
        try folder.write("a.mp3", text: "abd")
        #expect(try await recoverCommit(.test(#require(staged)), policy) == .removed)
        try folder.write("a.mp3", text: "abcd")
        #expect(try await recoverCommit(.test(#require(staged)), policy) == .removed)
        #expect(try entries() == ["a.mp3"])
    }

    /// Stages an output with these parts, and kills its owner; the descriptor, the caller's from now on, holds the staged file as if the
    /// owner were on another machine, whose files are not swept.
    private func lose(_ output: String, parts: [String]) async throws -> (StagedOutput, CInt) {
        let child = try await TransferChild.start(policy)
        try await child.tell(.job(.test("/none", output: output, parts: parts.map(PartPattern.single))))
        for part in parts { _ = try await child.write(part, output: 0, part: part) }
        let staged = try #require(try await child.stage("abc").staged)
        kill(child.pid, SIGKILL)
        _ = await child.finish()
        let holder = open(staged.staged, O_RDONLY | O_CLOEXEC)
        #expect(flock(holder, LOCK_EX) == 0)
        return (staged, holder)
    }

    /// Where a file cannot be renamed unless something is there, it is linked, and its staged name removed.
    @Test(arguments: [("main", RecoveredCommit.published), ("part", .removed)])
    func `a file that has both of its names is published`(last: String, expected: RecoveredCommit) async throws {
        let (staged, holder) = try await lose("a.mp3", parts: [".chapters.json"])
        defer { close(holder) }
        #expect(link(staged.part("a.chapters.json"), folder.file("a.chapters.json")) == 0)
        if last == "main" {
            unlink(staged.part("a.chapters.json"))
            #expect(link(staged.staged, folder.file("a.mp3")) == 0)
        }
        #expect(try await recoverCommit(.test(staged, .fail), policy) == expected)
        let left = try entries()
        #expect(left == (last == "main" ? ["a.chapters.json", "a.mp3"] : []))
    }

    /// Segments of several variants are staged in turn, and written down in a row for each.
    @Test func `parts that were published in turn are taken back`() async throws {
        let (staged, holder) = try await lose("a.m3u8", parts: ["-x1.ts", "-y1.ts", "-x2.ts", "-y2.ts"])
        defer { close(holder) }
        for name in ["a-x1.ts", "a-y1.ts"] { #expect(rename(staged.part(name), folder.file(name)) == 0) }
        #expect(try await recoverCommit(.test(staged), policy) == .removed)
        #expect(try entries() == [])
    }

    @Test func `an output that was linked and not renamed is removed`() async throws {
        try folder.write(".respool-1-token", text: "abc")
        let staged = StagedOutput(
            destination: folder.file("a.mp3"), staged: folder.file(".respool-1-token"), bytes: 3, sha256: Self.sum)
        // Held by a lock, as by an owner that still lives: the record says that it may go all the same.
        let holder = open(folder.file(".respool-1-token"), O_RDONLY | O_CLOEXEC)
        defer { close(holder) }
        #expect(flock(holder, LOCK_EX) == 0)
        #expect(try await recoverCommit(.test(staged), policy) == .removed)
        #expect(try entries() == [])
    }

    @Test func `a record cannot remove what is not staged`() async throws {
        let elsewhere = try TemporaryFolder()
        let victims = [
            try folder.write("precious", text: "abc"), try elsewhere.write(".respool-1-token", text: "abc"),
            try folder.write("sub.respool-1-token", text: "abc"),
        ]
        for victim in victims {
            let staged = StagedOutput(destination: folder.file("a.mp3"), staged: victim, bytes: 3, sha256: Self.sum)
            #expect(try await recoverCommit(.test(staged), policy) == .removed)
            #expect(FileManager.default.fileExists(atPath: victim))
        }
        let outside = StagedOutput(
            destination: elsewhere.file("a.mp3"), staged: elsewhere.file(".respool-1-token"), bytes: 3, sha256: Self.sum
        )
        #expect(try await recoverCommit(.test(outside), policy) == .removed)
        #expect(FileManager.default.fileExists(atPath: victims[1]))
    }

    @Test func `a start sweeps away files without an owner`() async throws {
        try FileManager.default.createDirectory(atPath: folder.file("deep/er"), withIntermediateDirectories: true)
        try folder.write(".respool-1-dead", text: "x")
        try folder.write("deep/er/.respool-2-dead", text: "x")
        try folder.write("deep/.respool-3-alive", text: "x")
        try folder.write("deep/respool-other", text: "x")
        let holder = open(folder.file("deep/.respool-3-alive"), O_RDONLY | O_CLOEXEC)
        defer { close(holder) }
        #expect(flock(holder, LOCK_EX) == 0)
        try await withTransfer(policy) { child in
            _ = try await child.end()
            #expect(try entries() == ["deep", "deep/.respool-3-alive", "deep/er", "deep/respool-other"])
        }
    }
}

/// The outcome of recovering a commit record of the test's job in a new child.
func recoverCommit(_ record: CommitRecord, _ policy: TransferPolicy) async throws -> RecoveredCommit? {
    var result: RecoveredCommit?
    try await withTransfer(policy) { child in
        try await child.tell(.recoverCommit(record, job: TransferJob.testID))
        if case .commitRecovered(let recovered) = try await child.report() { result = recovered }
    }
    return result
}
