import FoundationEssentials
import Glibc
import JobSchema
import MediaTypes
import SlotIPC
import TestSupport
import Testing

/// A `respool-transcode` that was taken over has the link to `respool-transfer`, and whatever that hands it.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct HostileTranscoderTests {
    private let folder: TemporaryFolder
    private let root: String
    private let policy: TransferPolicy

    init() throws {
        folder = try TemporaryFolder()
        root = folder.file("out")
        try FileManager.default.createDirectory(atPath: root + "/t", withIntermediateDirectories: true)
        var policy = TransferPolicy()
        policy.outputRoot = root
        policy.spoolFolder = folder.path
        self.policy = policy
    }

    private func entries() throws -> [String] { try FileManager.default.subpathsOfDirectory(atPath: root).sorted() }

    @Test(arguments: [".flac", ".html", "/.htaccess", "-{token}.m4s", "-1abcd-00001.m4s", "-{token}-00001.M4S", ""])
    func `a part that the format lacks fails the job`(part: String) async throws {
        try folder.write("out/t/p.flac", text: "another's")
        try await withTransfer(policy) { child in
            let stream = [PartPattern.numbered(before: "-{token}-", digits: 5, after: ".m4s")]
            for parts in part.hasPrefix("-") ? [stream] : [[], stream] {
                try await child.tell(.job(.test("/none", output: "t/p.mp3", parts: parts)))
                #expect(try await child.ask(.stage(output: 0, part: part)).failure?.code == .crashed)
                #expect(try await child.report().violation?.code == .crashed)
                #expect(try await child.ask(.stage(output: 0, part: nil)).failure?.code == .crashed)
                #expect(try await child.end().isEnded)
            }
        }
        #expect(try entries() == ["t", "t/p.flac"])
        #expect(try String(contentsOfFile: root + "/t/p.flac", encoding: .utf8) == "another's")
    }

    @Test func `a part is written once`() async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test("/none", output: "t/p.mp3", parts: [.single(".chapters.json")])))
            _ = try await child.write("[]", output: 0, part: ".chapters.json")
            #expect(try await child.ask(.stage(output: 0, part: ".chapters.json")).failure?.code == .internal)
        }
    }

    /// Places of two outputs, the parts of both, and whether both may be made.
    @Test(arguments: [
        ("t/p.mp3", "t/p.m4a", [".chapters.json"], true), ("t/p.mp3", "t/p.chapters.json", [".chapters.json"], false),
        ("t/p.m3u8", "t/p.txt", ["-{token}.m3u8"], false), ("t/p.m3u8", "t/q.m3u8", ["-{token}.m3u8"], true),
    ])
    func `a part does not replace another output's file`(
        first: String, second: String, parts: [String], mayBe: Bool
    ) async throws {
        var job = TransferJob.test("/none", output: first, parts: parts.map(PartPattern.single))
        job.outputs.append(.init(second, defaultName: "", parts: parts.map(PartPattern.single)))
        try await withTransfer(policy) { child in
            try await child.tell(.job(job))
            let answer = try await child.ask(.stage(output: 0, part: nil))
            #expect(answer.failure?.code == (mayBe ? nil : .outputDenied), "\(answer)")
        }
    }

    @Test func `a numbered part does not replace an output`() async throws {
        var job = TransferJob.test(
            "/none", output: "t/p.m3u8", parts: [.numbered(before: "-", digits: 1, after: ".mp3")])
        job.outputs.append(.init("t/p-7.mp3", defaultName: ""))
        try await withTransfer(policy) { child in
            try await child.tell(.job(job))
            #expect(try await child.ask(.stage(output: 0, part: "-7.mp3")).failure?.code == .outputDenied)
            #expect(try await child.ask(.stage(output: 0, part: "-8.mp3")).failure == nil)
        }
    }

    // MARK: The link

    @Test func `a child that reads no answer does not hold up the loop`() async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test("/none", output: "t/p.mp3")))
            try await child.ask(.titles, times: 2000)
            #expect(try await child.report().violation?.code == .crashed)
            let link = await child.duplicateLink()
            defer { close(link) }
            var (unread, byte) = (0, UInt8(0))
            while recv(link, &byte, 1, CInt(MSG_DONTWAIT)) > 0 { unread += 1 }
            #expect(unread < 100, "each may hold a descriptor")
            #expect(try await child.end().violation?.code == .crashed)
        }
    }

    @Test func `a child that never stops asking does not hold up the end of its job`() async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test("/none", output: "t/p.mp3")))
            kill(child.pid, SIGSTOP)
            try await child.ask(.expect("a.ts", within: 0, as: .segment), times: 200)
            try await child.tell(.end)
            kill(child.pid, SIGCONT)
            #expect(try await child.report().violation?.code == .crashed)
            #expect(try await child.report().isEnded)
        }
    }

    @Test func `a malformed request fails the job, and not the process`() async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test("/none", output: "t/p.mp3")))
            #expect(try await child.ask(.stage(output: 0, part: nil)).failure == nil)
            try await child.sendNonsense()
            #expect(try await child.report().violation?.code == .crashed)
            #expect(try await child.end().violation?.code == .crashed)
        }
        #expect(try entries() == ["t"])
    }

    // MARK: What is complete

    /// What is said of an output whose end was told already.
    @Test(arguments: [LinkRequest.discard(output: 0), .finished(output: 0, part: nil), .discard(output: 7)])
    func `a complete output cannot be aborted before it is published`(request: LinkRequest) async throws {
        var job = TransferJob.test("/none", output: "t/p.mp3")
        job.outputs.append(.init("t/q.mp3", defaultName: ""))
        try await withTransfer(policy) { child in
            try await child.tell(.job(job))
            for index in 0...1 { #expect(try await child.stage("good", output: index).staged != nil) }
            try await child.send(request)
            #expect(try await child.report().violation?.code == .crashed)
            try await child.tell(.publish)
            #expect(try await child.report().failure?.code == .internal)
            #expect(try await child.end().violation?.code == .crashed)
        }
        #expect(try entries() == ["t"])
    }
}
