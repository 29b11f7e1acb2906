import FoundationEssentials
import Glibc
import JobSchema
import Lifecycle
import SlotIPC
import TestSupport
import Testing

@testable import LocalFiles

/// Staged files on a file system where each must have a name.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct StagedFileTests {
    private let folder: TemporaryFolder
    private let destination: Destination

    init() throws {
        folder = try TemporaryFolder()
        var policy = TransferPolicy()
        policy.outputRoot = folder.path
        destination = try Destination("a.mp3", defaultName: "", policy: policy)
    }

    private func entries() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func create(_ name: String) throws -> StagedFile {
        var made = 0
        return try StagedFile.createNamed(for: destination, in: destination.openOrCreateFolder(counting: &made), name)
    }

    @Test func `a staged file is swept when it is abandoned, and not before`() throws {
        try folder.write(".respool-2-dead", text: "x")
        let staged = try create(".respool-1-alive")
        StagedFiles.sweep(folder.path)
        #expect(try entries() == [".respool-1-alive"])
        #expect(staged.stagedPath() == folder.file(".respool-1-alive"))
    }

    /// Whoever recovers a job takes a part that has lost its staged name, while the main file has not, for published.
    @Test(arguments: ["released", "withdrawn", "swept"]) func `a staged file is removed before its parts`(how: String)
        throws
    {
        let watch = FolderWatch(folder.path)
        var gone: [String] = []
        if how == "swept" {
            for number in 0..<9 {
                for part in ["", "~1", "~2"] { try folder.write(".respool-\(number)-dead~0\(part)", text: "x") }
            }
            StagedFiles.sweep(folder.path)
            gone = watch.removed()
            #expect(gone.count == 27)
        } else {
            var staged = try create(".respool-1-token~0")
            for suffix in [".chapters.json", "{token}.m4s"] {
                try staged.keep(staged.createPart(suffix, token: "1:abcd"))
            }
            if how == "withdrawn" {
                try staged.publishParts(keeping: .none, replacing: true)
                staged.rollback()
            }
            _ = consume staged
            gone = watch.removed()
            #expect(gone.count == 3)
        }
        for (index, name) in gone.enumerated() where name.hasSuffix("~0") {
            let parts =
                how == "withdrawn" ? gone.filter { !$0.hasPrefix(".") } : gone.filter { $0.hasPrefix(name + "~") }
            #expect(parts.count == 2)
            #expect(parts.allSatisfy { gone.firstIndex(of: $0)! > index }, "\(gone)")
        }
    }

    @Test func `a staged file does not wait for a program that keeps its folder locked`() async throws {
        var policy = TransferPolicy()
        policy.outputRoot = folder.path
        let destination = try Destination("sub/a.mp3", defaultName: "", policy: policy)
        try FileManager.default.createDirectory(atPath: folder.file("sub"), withIntermediateDirectories: false)
        let locked = open(folder.file("sub"), O_RDONLY | O_DIRECTORY)
        defer { close(locked) }
        #expect(flock(locked, LOCK_EX) == 0)
        let opened = Monitor(false)
        startThread {
            var made = 0
            let found = (try? destination.openOrCreateFolder(counting: &made)) != nil
            opened.change { $0 = found && made == 0 }
        }
        try await eventually("the folder is opened") { opened.change { $0 } }
    }

    @Test func `a staged file appears under its destination alone`() throws {
        var staged = try create(".respool-1-token")
        let writer = try staged.file.writer()
        #expect(write(writer.number, "abc", 3) == 3)
        try staged.synchronize()
        #expect(try entries() == [".respool-1-token"])
        try staged.publish()
        #expect(try entries() == ["a.mp3"])
    }

    @Test func `a staged file is removed with its owner`() throws {
        do {
            let staged = try create(".respool-1-token")
            #expect(staged.file.number >= 0)
        }
        #expect(try entries() == [])
    }

    @Test func `two owners of a job do not share a name`() throws {
        let staged = try create(".respool-1-token")
        #expect(throws: Failure.self) { _ = try create(".respool-1-token").file.number }
        #expect(staged.file.number >= 0)
        #expect(StagedFile.stagedName(job: "1-0", token: "2:ab") != StagedFile.stagedName(job: "1-0", token: "3:ab"))
        let longest = StagedFile.stagedName(
            job: String(repeating: "/", count: 300), token: String(repeating: "ä", count: 300))
        #expect(longest.utf8.count <= 255 && !longest.contains("/"))
    }
}
