import Crypto
import FoundationEssentials
import Glibc
import JobSchema
import Lifecycle
import MediaTypes
import SlotIPC
import TestSupport
import Testing

/// What a `respool-transcode` that was taken over can write when it should write no more, or too much.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct WritableFileTests {
    private let folder: TemporaryFolder
    private let libraries: TemporaryFolder
    private let root: String
    private let policy: TransferPolicy
    private static let part = "-{token}.m4s"

    init() throws {
        // In a container, /tmp may be an overlay, whose leases do not show mappings.
        folder = try TemporaryFolder(under: "/dev/shm")
        libraries = try TemporaryFolder()
        root = folder.file("out")
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        var policy = TransferPolicy()
        policy.outputRoot = root
        policy.spoolFolder = folder.path
        policy.maxOutputBytes = 1 << 20
        self.policy = policy
    }

    private func entries() throws -> [String] { try FileManager.default.subpathsOfDirectory(atPath: root).sorted() }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(root)/\(name)", encoding: .utf8)
    }

    private func job(_ output: String) -> TransferJob {
        .test("/none", output: output, parts: output == "-" ? [] : [.single(Self.part)])
    }

    // MARK: After the sum

    @Test(arguments: ["a.mp3", "-"], ["descriptor", "mapping"])
    func `a file that can still be written to is not complete`(output: String, how: String) async throws {
        try await withTransfer(policy) { child in
            for part in output == "-" ? [nil] : [nil, Self.part] {
                let target = open("/dev/null", O_WRONLY | O_CLOEXEC)
                defer { close(target) }
                try await child.tell(.job(job(output)), descriptor: target)
                try await child.begin("good", output: 0, part: part)
                let kept = await child.duplicateOutput()
                let mapping = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, kept, 0)
                if how == "mapping" { close(kept) } else { munmap(mapping, 4096) }
                await child.closeOutput()
                try await child.send(.finished(output: 0, part: part))
                #expect(try await child.report().violation?.code == .crashed)
                try await child.tell(.publish)
                #expect(try await child.report().failure?.code == .internal)
                if how == "mapping" { munmap(mapping, 4096) } else { close(kept) }
                #expect(try await child.end().violation?.code == .crashed)
            }
        }
        #expect(try entries() == [])
    }

    @Test func `a sealed file is staged once it is reported as complete`() async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(job("a.mp3")))
            try await child.begin("good", output: 0, part: nil)
            try await child.seal()
            let reader = await child.duplicateOutput()
            #expect(fcntl(reader, F_GETFL) & O_ACCMODE == O_RDONLY)
            close(reader)
            try await child.send(.finished(output: 0, part: nil))
            let report = try await child.report()
            #expect(report.staged?.sha256 == Digest.of(Array("good".utf8)))
            try await child.tell(.publish)
            #expect(try await child.report().isPublished)
            #expect(try await child.end().violation == nil)
        }
        #expect(try text("a.mp3") == "good")
    }

    @Test func `a sealed file is hashed only once nobody can write to it`() async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(job("a.mp3")))
            try await child.begin("good", output: 0, part: nil)
            let kept = await child.duplicateOutput()
            await child.closeOutput()
            try await child.send(.seal(output: 0))
            #expect(pwrite(kept, "evil", 4, 0) == 4)
            close(kept)
            _ = try await child.answer()
            try await child.send(.finished(output: 0, part: nil))
            #expect(try await child.report().staged?.sha256 == Digest.of(Array("evil".utf8)))
            _ = try await child.end()
            try await child.tell(.job(job("b.mp3")))
            try await child.begin("good", output: 0, part: nil)
            let longer = await child.duplicateOutput()
            defer { close(longer) }
            try await child.seal()
            try await child.send(.finished(output: 0, part: nil))
            #expect(try await child.report().violation?.code == .crashed)
        }
        #expect(try entries() == [])
    }

    @Test func `a sealed file can be replaced, but not sealed again or completed by a part`() async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(job("a.mp3")))
            #expect(try await child.ask(.seal(output: 0)).failure != nil)
            try await child.begin("first", output: 0, part: nil)
            try await child.seal()
            #expect(try await child.ask(.seal(output: 0)).failure != nil)
            #expect(try await child.ask(.stage(output: 0, part: Self.part)).failure != nil)
            try await child.begin("second", output: 0, part: nil)
            try await child.seal()
            try await child.send(.finished(output: 0, part: nil))
            #expect(try await child.report().staged?.sha256 == Digest.of(Array("second".utf8)))
            try await child.tell(.publish)
            #expect(try await child.report().isPublished)
            _ = try await child.end()
        }
        #expect(try text("a.mp3") == "second")
    }

    @Test func `an aborted file is watched until nobody can write to it`() async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(job("a.mp3")))
            try await child.begin("first", output: 0, part: nil)
            let kept = await child.duplicateOutput()
            _ = try await child.stage("second")
            try await child.tell(.publish)
            #expect(try await child.report().isPublished)
            #expect(try await child.end().violation?.code == .crashed)
            #expect(lseek(kept, 0, SEEK_END) == 0, "its bytes are gone all the same")
            close(kept)
        }
        #expect(try text("a.mp3") == "second")
    }

    @Test func `a complete file is not begun again while it is summed`() async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(job("a.mp3")))
            try await child.begin("good", output: 0, part: nil)
            await child.closeOutput()
            try await child.send(.finished(output: 0, part: nil))
            #expect(try await child.ask(.stage(output: 0, part: nil)).failure?.code == .internal)
            #expect(try await child.ask(.stage(output: 0, part: Self.part)).failure?.code == .internal)
            #expect(try await child.report().staged?.bytes == 4)
        }
    }

    /// What a file system does with leases.
    enum Leases: Int, CaseIterable {
        /// It grants all of them.
        case granted = -1
        /// It grants those of files that are mapped for writing, as an overlay does.
        case grantedIfMapped = -2
        case none = 0
        /// It has none any more once the second one was refused.
        case lost = 2
    }

    /// A library that takes leases, and perhaps files without a name, away from the file system.
    private func poorFileSystem(hasUnnamed: Bool = true, _ leases: Leases = .none) async throws -> String {
        // The folder of the outputs may not hold programs.
        let library = "\(libraries.path)/poor.so"
        try await CompiledProgram.make(
            library, of: "poor-file-system.c",
            ["-shared", "-fPIC", "-DLEASES=\(leases.rawValue)", "-DUNNAMED=\(hasUnnamed ? 1 : 0)"])
        return library
    }

    @Test(
        arguments: [(true, .none), (false, .none), (true, .granted), (true, .grantedIfMapped)] as [(Bool, Leases)],
        ["a.mp3", "-"])
    func `a file whose completeness cannot be checked is copied`(
        fileSystem: (hasUnnamed: Bool, leases: Leases), output: String
    ) async throws {
        let library = try await poorFileSystem(hasUnnamed: fileSystem.hasUnnamed, fileSystem.leases)
        let taken = try folder.write("taken", text: "")
        try await withTransfer(policy, wrapper: ["/usr/bin/env", "LD_PRELOAD=\(library)"]) { child in
            let target = open(taken, O_WRONLY | O_CLOEXEC)
            defer { close(target) }
            try await child.tell(.job(job(output)), descriptor: target)
            var kept: [CInt] = []
            for part in output == "-" ? [nil] : [Self.part, nil] {
                try await child.begin(part == nil ? "main" : "part", output: 0, part: part)
                kept.append(await child.duplicateOutput())
                await child.closeOutput()
                try await child.send(.finished(output: 0, part: part))
            }
            let staged = try #require(try await child.report().staged)
            for file in kept { #expect(pwrite(file, "EVIL", 4, 0) == 4) }
            try await child.tell(.publish)
            #expect(try await child.report().isPublished)
            for file in kept {
                pwrite(file, "EVIL", 4, 0)
                close(file)
            }
            #expect(staged.bytes == 4 && staged.partsReport?.count == (output == "-" ? nil : 1))
            #expect(try await child.end().isEnded)
            guard output != "-" else {
                #expect(try String(contentsOfFile: taken, encoding: .utf8) == "main")
                return
            }
            #expect(try text("a.mp3") == "main" && text("a-1abcd.m4s") == "part")
            #expect(try entries() == ["a-1abcd.m4s", "a.mp3"])
        }
    }

    @Test func `a file whose writers can no longer be checked is not waited for without end`() async throws {
        let library = try await poorFileSystem(.lost)
        try await withTransfer(policy, wrapper: ["/usr/bin/env", "LD_PRELOAD=\(library)"]) { child in
            try await child.tell(.job(job("a.mp3")))
            try await child.begin("good", output: 0, part: nil)
            try await child.send(.finished(output: 0, part: nil))
            #expect(try await child.report().violation?.code == .crashed)
            await child.closeOutput()
            #expect(try await child.end().violation?.code == .crashed)
        }
    }

    @Test func `an aborted file takes no space if it cannot be checked for writers`() async throws {
        let library = try await poorFileSystem()
        try await withTransfer(policy, wrapper: ["/usr/bin/env", "LD_PRELOAD=\(library)"]) { child in
            try await child.tell(.job(job("a.mp3")))
            for _ in 0..<4 { try await child.begin(String(repeating: "p", count: 400_000), output: 0, part: nil) }
            #expect(try await child.stage("good").staged?.bytes == 4)
            #expect(try await child.end().isEnded)
        }
    }

    // MARK: Limits

    @Test(arguments: ["-", "s3://filled/a.mp3"])
    func `an excess over the limit is noticed while a result is published`(output: String) async throws {
        let store = ObjectStore.shared
        var policy = try await store.policy()
        (policy.outputRoot, policy.spoolFolder, policy.maxOutputBytes) = (root, folder.path, 1 << 20)
        try await store.spoil("filled", "PUT 2 503")
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Errno.last }
        defer { for end in ends { close(end) } }
        try await withTransfer(policy) { child in
            try await child.tell(
                .job(.test("/none", output: output)), descriptor: output == "-" ? ends[1] : -1)
            #expect(try await child.fillScratch(1) == nil)
            _ = try await child.write(String(repeating: "p", count: 400_000), output: 0, part: nil)
            #expect(try await child.outcome().staged?.bytes == 400_000)
            try await child.tell(.publish)
            await child.growScratch(by: 2 << 20)
            #expect(try await child.outcome().violation?.code == .tooLarge)
            #expect(await child.scratchBlocks() == 0)
            if output == "-" { #expect(await child.readAway(400_000, from: ends[0]) == 400_000) }
            #expect(try await child.outcome().isPublished)
            #expect(try await child.end().violation?.code == .tooLarge)
        }
        if output != "-" { #expect(try await store.content("filled").objects["a.mp3"]?.size == 400_000) }
    }

    @Test func `scratch files and unfinished parts count against one limit`() async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(job("a.mp3")))
            try await child.begin(String(repeating: "p", count: 400_000), output: 0, part: Self.part)
            let kept = await child.duplicateOutput()
            #expect(try await child.fillScratch(400_000) == nil)
            #expect(try await child.fillScratch(400_000) == nil)
            #expect(try await child.ask(.scratch).failure?.code == .tooLarge)
            #expect(try await child.report().violation?.code == .tooLarge)
            #expect(try await child.ask(.scratch).failure?.code == .tooLarge)
            #expect(try await child.end().violation?.code == .tooLarge)
            #expect(await child.scratchBlocks() == 0 && lseek(kept, 0, SEEK_END) == 0)
            close(kept)
        }
        #expect(try entries() == [])
    }

    @Test(arguments: [false, true])
    func `an excess over the limit is noticed while no request comes`(isScratch: Bool) async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(job("a.mp3")))
            if isScratch {
                #expect(try await child.fillScratch(2 << 20) == nil)
            } else {
                try await child.begin("x", output: 0, part: nil)
                await child.grow(by: 2 << 20)
            }
            #expect(try await child.report().violation?.code == .tooLarge)
            #expect(try await child.end().isEnded)
        }
        #expect(try entries() == [])
    }

    @Test func `a scratch file is removed with its job, and a process that keeps it open is reported`() async throws {
        try await withTransfer(policy) { child in
            for isKept in [false, true, false] {
                try await child.tell(.job(job("a.mp3")))
                #expect(try await child.fillScratch(100_000) == nil)
                #expect(await child.scratchBlocks() > 0)
                if !isKept { await child.closeScratches() }
                let ended = try await child.end()
                #expect(ended.isEnded && (ended.violation != nil) == isKept)
                #expect(await child.scratchBlocks() == 0)
                await child.closeScratches()
            }
            // One that is closed in time counts no more.
            try await child.tell(.job(job("a.mp3")))
            for _ in 0..<5 {
                #expect(try await child.fillScratch(900_000) == nil)
                await child.closeScratches()
            }
            #expect(try await child.end().violation == nil)
        }
    }

    @Test func `no more files are handed out than can be open`() async throws {
        try await withTransfer(policy) { child in
            try await child.tell(.job(job("a.mp3")))
            for _ in 0..<128 { #expect(try await child.fillScratch(1) == nil) }
            #expect(try await child.fillScratch(1)?.code == .tooLarge)
            await child.closeScratches()
            // A process that another suite has just forked holds them until it runs its program.
            try await eventually("what is closed counts no more") { try await child.fillScratch(1) == nil }
            await child.closeScratches()
            #expect(try await child.end().violation == nil)
        }
    }
}

extension TransferChild {
    /// Seals the main file of an output after the descriptor that wrote it is closed.
    fileprivate func seal() throws {
        closeOutput()
        guard case .sealed = try ask(.seal(output: 0)) else { throw NotSealed() }
    }
}

private struct NotSealed: Error {}
