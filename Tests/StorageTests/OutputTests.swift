import FoundationEssentials
import Glibc
import JobSchema
import SlotIPC
import TestSupport
import Testing

/// Outputs: where they may go, and that they appear whole or not at all.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct OutputTests {
    private let folder: TemporaryFolder
    private let root: String
    private let source: String
    private let policy: TransferPolicy
    private static let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    init() throws {
        folder = try TemporaryFolder()
        root = folder.file("out")
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        source = try folder.write("source.flac", text: "source")
        var policy = TransferPolicy()
        policy.sourceRoots = [folder.path]
        policy.outputRoot = root
        policy.spoolFolder = folder.path
        self.policy = policy
    }

    /// Every entry below the root, hidden ones too.
    private func entries() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root).sorted()
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test(
        arguments: [
            (nil, "job.mp3"), ("a.mp3", "a.mp3"), ("new/er/a b.mp3", "new/er/a b.mp3"), ("./x//y/../a.mp3", "x/a.mp3"),
            ("folder/", "folder/job.mp3"), ("podcast:1.mp3", "podcast:1.mp3"),
        ] as [(String?, String)])
    func `an output is published under the root`(output: String?, place: String) async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(source, output: output)))
            let staged = try #require(try await child.stage("abc").staged)
            #expect(staged.destination == "\(root)/\(place)")
            #expect(staged.bytes == 3 && staged.sha256 == Self.sum)
            #expect(try entries().allSatisfy { !$0.hasSuffix(".mp3") })
            try await child.tell(.publish)
            #expect(try await child.report().isPublished)
            #expect(try text("\(root)/\(place)") == "abc")
            var found = stat()
            #expect(stat("\(root)/\(place)", &found) == 0 && found.st_mode & 0o777 == 0o644 & ~currentMask())
            #expect(try await child.end().isEnded)
            #expect(try entries().count == place.split(separator: "/").count)
        }
    }

    /// Both ends of a pipe, closed on exec from the first moment on, as the children of other tests must not hold them.
    private func openPipe() -> [CInt] {
        let path = folder.file("pipe")
        mkfifo(path, 0o600)
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let writer = open(path, O_WRONLY | O_CLOEXEC)
        _ = fcntl(reader, F_SETFL, 0)
        return [reader, writer]
    }

    /// The umask, as the kernel tells it without setting it.
    private func currentMask() -> mode_t {
        let status = (try? text("/proc/self/status")) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("Umask:") } ?? "Umask:\t0022"
        return mode_t(line.split(separator: "\t")[1], radix: 8) ?? 0o022
    }

    @Test func `absolute paths and file URLs inside the root are accepted`() async throws {
        symlink(root, folder.file("link"))
        var policy = policy
        policy.outputRoot = folder.file("link")
        for (output, place) in [
            ("\(folder.path)/link/a.mp3", "a.mp3"), ("\(root)/b.mp3", "b.mp3"), ("file://\(root)/c%20d.mp3", "c d.mp3"),
        ] {
            try await withTransfer(policy) { child in
                try await child.tell(.job(.test(source, output: output)))
                _ = try await child.stage("abc")
                try await child.tell(.publish)
                #expect(try await child.report().isPublished)
                #expect(try text("\(root)/\(place)") == "abc")
            }
        }
    }

    @Test func `the whole path of an output may lead to the folder of previews instead of the root`() async throws {
        var policy = policy
        policy.previewFolder = folder.file("previews")
        try FileManager.default.createDirectory(atPath: folder.file("previews"), withIntermediateDirectories: true)
        symlink(folder.path, folder.file("previews/up"))
        try await withTransfer(policy) { child in
            for (output, place) in [
                ("file://\(folder.path)/previews/a%20b.png", "previews/a b.png"), ("c.png", "out/c.png"),
            ] {
                try await child.tell(.job(.test(source, output: output)))
                _ = try await child.stage("abc")
                try await child.tell(.publish)
                #expect(try await child.report().isPublished)
                #expect(try text(folder.file(place)) == "abc")
            }
            for output in [
                "\(folder.path)/previews/../a.png", "\(folder.path)/previews/up/a.png", "\(folder.path)/a.png",
            ] {
                try await child.tell(.job(.test(source, output: output)))
                #expect(try await child.ask(.open).failure?.code == .outputDenied, "\(output)")
                #expect(try await child.end().isEnded)
            }
        }
    }

    @Test func `an output that leaves the root is denied before the source is opened`() async throws {
        symlink(folder.path, root + "/up")
        symlink("/dev/null", root + "/null")
        try FileManager.default.createDirectory(atPath: root + "/folder", withIntermediateDirectories: true)
        mkfifo(root + "/fifo", 0o644)
        let outputs = [
            "../a.mp3", "x/../../a.mp3", "/etc/a.mp3", "\(root)-beside/a.mp3", "up/a.mp3", "up/out/../a.mp3", "folder",
            "fifo", "null", ".respool-mine", root, "file:///etc/a.mp3", String(repeating: "a", count: 300), "-",
        ]
        try await withTransfer(policy) { child in
            for output in outputs {
                try await child.tell(.job(.test(source, output: output)))
                #expect(try await child.ask(.open).failure?.code == .outputDenied, "\(output)")
                #expect(try await child.ask(.stage(output: 0, part: nil)).failure?.code == .outputDenied, "\(output)")
                #expect(try await child.end().isEnded)
            }
            try await child.tell(.job(.test(source, output: "gopher://host/a.mp3")))
            #expect(try await child.ask(.stage(output: 0, part: nil)).failure?.code == .invalidRequest)
        }
        #expect(try entries() == ["fifo", "folder", "null", "up"])
    }

    @Test func `only the granted file is writable without a root`() async throws {
        var policy = policy
        policy.outputRoot = nil
        policy.grantedOutputs = [folder.file("by-hand.mp3")]
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(source, output: "a.mp3")))
            #expect(try await child.ask(.stage(output: 0, part: nil)).failure?.code == .outputDenied)
            try await child.tell(.job(.test(source, output: folder.file("by-hand.mp3"))))
            _ = try await child.stage("abc")
            try await child.tell(.publish)
            #expect(try await child.report().isPublished)
        }
        #expect(try text(folder.file("by-hand.mp3")) == "abc")
    }

    @Test func `an existing file is replaced at once, or left as it was`() async throws {
        let place = try folder.write("out/a.mp3", text: "before")
        let reader = open(place, O_RDONLY)
        defer { close(reader) }
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(source, output: "a.mp3")))
            _ = try await child.stage("never published")
            _ = try await child.end()
            #expect(try text(place) == "before")
            try await child.tell(.job(.test(source, output: "a.mp3")))
            _ = try await child.stage("after")
            #expect(try text(place) == "before")
            try await child.tell(.publish)
            #expect(try await child.report().isPublished)
        }
        #expect(try text(place) == "after")
        var old = [UInt8](repeating: 0, count: 16)
        #expect(read(reader, &old, 16) == 6, "the old file is still whole for who reads it")
        #expect(try entries() == ["a.mp3"])
    }

    @Test func `an output that is empty or over the limit is not staged`() async throws {
        var policy = policy
        policy.maxOutputBytes = 10
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(source, output: nil)))
            #expect(try await child.stage("").failure?.code == .outputFailed)
            #expect(try await child.end().isEnded)
            try await child.tell(.job(.test(source, output: nil)))
            #expect(try await child.stage("12345678901").failure?.code == .tooLarge)
            try await child.tell(.publish)
            #expect(try await child.report().failure?.code == .internal)
        }
        #expect(try entries() == [])
    }

    @Test func `a descriptor gets the output when it is published`() async throws {
        let ends = openPipe()
        defer { close(ends[0]) }
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(source, output: "-")), descriptor: ends[1])
            close(ends[1])
            let staged = try #require(try await child.stage("abc").staged)
            #expect(staged.destination == "-" && staged.sha256 == Self.sum)
            var entry = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            #expect(poll(&entry, 1, 0) == 0)
            try await child.tell(.publish)
            #expect(try await child.report().isPublished)
            _ = try await child.end()
            var bytes = [UInt8](repeating: 0, count: 16)
            #expect(read(ends[0], &bytes, 16) == 3)
            #expect(read(ends[0], &bytes, 16) == 0, "the pipe is closed with the job")
        }
    }

    @Test(arguments: [("/dev/full", ErrorCode.outOfSpace), ("broken pipe", .outputFailed)])
    func `a descriptor that cannot be written fails the job`(target: String, code: ErrorCode) async throws {
        let ends = openPipe()
        close(ends[0])
        let writer = target.hasPrefix("/") ? open(target, O_WRONLY | O_CLOEXEC) : dup(ends[1])
        close(ends[1])
        defer { close(writer) }
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(source, output: "-")), descriptor: writer)
            _ = try await child.stage("abc")
            try await child.tell(.publish)
            #expect(try await child.report().failure?.code == code)
        }
    }

    @Test func `a reader of the pipe that sleeps does not hold up the end`() async throws {
        let ends = openPipe()
        defer { for end in ends { close(end) } }
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(source, output: "-")), descriptor: ends[1])
            _ = try await child.stage(String(repeating: "a", count: 1 << 20))
            try await child.tell(.publish)
            #expect(try await child.isSilent(milliseconds: 100))
            #expect(try await child.ending().isEnded)
        }
    }
}
