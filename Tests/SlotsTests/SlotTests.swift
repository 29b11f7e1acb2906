import FoundationEssentials
import Glibc
import JobSchema
import Lifecycle
import MediaTypes
import SlotIPC
import Slots
import Synchronization
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct SlotTests {
    private let studio: Studio

    init() async throws { studio = try await Studio() }

    @Test func `a slot converts, publishes, and runs the next job in the same children`() async throws {
        let slot = studio.slot()
        let processes = try await studio.convert(slot, id: "one")
        #expect(try await studio.convert(slot, id: "two") == processes)
        #expect(try await studio.frames(of: "one.wav") == Studio.frames)
        #expect(try await studio.frames(of: "two.wav") == Studio.frames)
        #expect(try studio.outputs() == ["one.wav", "two.wav"])
        await slot.shutdown()
        #expect(slot.processes.isEmpty)
    }

    @Test func `an output is invisible before it is published`() async throws {
        let slot = studio.slot()
        let record = try await slot.convert(studio.task("hidden")) { _ in }
        #expect(record.outputs.map(\.report.duration) == [1])
        #expect(try studio.outputs().map { "\(studio.folder.path)/out/\($0)" } == record.outputs.map(\.staged))
        await slot.end()
        #expect(try studio.outputs().isEmpty)
        await slot.shutdown()
    }

    @Test func `a source is held to its limits, and the next job runs`() async throws {
        let slot = studio.slot { $0.transcode.source.seconds = 10 }
        let processes = try await studio.convert(slot, id: "before")
        let error = await #expect(throws: SlotError.self) {
            _ = try await slot.convert(studio.task("long", source: "long.wav")) { _ in }
        }
        #expect(error?.failure.code == .tooLong)
        #expect(error?.failure.message.contains("RESPOOL_MAX_DURATION") == true)
        await slot.end()
        #expect(try await studio.convert(slot, id: "after") == processes)
        await slot.shutdown()
    }

    @Test func `a probe reports more chapters than a message holds`() async throws {
        let count = 5000
        func little(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var bytes = try [UInt8](Data(contentsOf: URL(filePath: "\(studio.folder.path)/in/short.wav")))
        bytes += Array("cue ".utf8) + little(4 + 24 * count) + little(count)
        for cue in 0..<count {
            bytes += little(cue) + little(8 * cue) + Array("data".utf8) + little(0) + little(0) + little(8 * cue)
        }
        bytes.replaceSubrange(4..<8, with: little(bytes.count - 8))
        try studio.folder.write("in/cues.wav", Data(bytes))
        let slot = studio.slot()
        let text = try await slot.probe(sourceURL: "file://\(studio.folder.path)/in/cues.wav", id: "cues")
        let probe = try JSONDecoder().decode(Chapters.self, from: Data(text.utf8))
        #expect(probe.chapters.count > 500 && probe.chapters.count + probe.leftOut == count)
        await slot.end()
        await slot.shutdown()
    }

    private struct Chapters: Decodable {
        let chapters: [Chapter]
        let leftOut: Int

        struct Chapter: Decodable {
            let start: Double
        }

        enum CodingKeys: String, CodingKey {
            case chapters
            case leftOut = "chapters_left_out"
        }
    }

    @Test func `a job that fails leaves its pair usable`() async throws {
        let slot = studio.slot()
        let processes = try await studio.convert(slot, id: "before")
        var task = studio.task("missing")
        task.sourceURL = "file://\(studio.folder.path)/in/nothing.wav"
        let error = await #expect(throws: SlotError.self) { _ = try await slot.convert(task) { _ in } }
        #expect(error?.failure.code == .sourceNotFound)
        await slot.end()
        #expect(try await studio.convert(slot, id: "after") == processes)
        await slot.shutdown()
    }

    @Test(arguments: ["respool-transfer", "respool-transcode"])
    func `a child that dies during a job is a crash, and is replaced`(name: String) async throws {
        let slot = studio.slot()
        let progress = Mutex(0)
        let error = await #expect(throws: SlotError.self) {
            _ = try await slot.convert(studio.task("long", source: "long.wav")) { _ in
                if progress.withLock({
                    $0 += 1; return $0 == 2
                }) {
                    _ = kill(slot.processes[name] ?? 0, SIGKILL)
                }
            }
        }
        guard case .crashed(let failure, _) = error else {
            Issue.record("not a crash: \(String(describing: error))")
            return
        }
        #expect(failure.code == .crashed && failure.retryable)
        #expect(failure.message.contains(name) || failure.message.contains("respool-transfer"), "\(failure.message)")
        await slot.end()
        try await studio.convert(slot, id: "after")
        #expect(try studio.outputs() == ["after.wav"])
        await slot.shutdown()
    }

    @Test func `a child that dies between two jobs fails neither`() async throws {
        let slot = studio.slot()
        let first = try await studio.convert(slot, id: "one")
        for pid in first.values { kill(pid, SIGKILL) }
        try await eventually("the children are reaped") { slot.processes.isEmpty }
        #expect(try await studio.convert(slot, id: "two") != first)
        await slot.shutdown()
    }

    @Test func `no two tenants share children`() async throws {
        let slot = studio.slot { $0.pairScope = .limitKey }
        try await slot.start()
        let idle = slot.processes
        let first = try await studio.convert(slot, id: "one", tenant: "ann")
        #expect(first == idle && slot.tenant == "ann")
        #expect(try await studio.convert(slot, id: "two", tenant: "ann") == first)
        let second = try await studio.convert(slot, id: "three", tenant: "bob")
        #expect(second.count == 2 && Set(second.values).isDisjoint(with: first.values) && slot.tenant == "bob")
        // Neither what a tenant's dead worker left is looked after by another's children.
        let record = CommitRecord(outputs: [])
        #expect(try await slot.recoverCommit(record, job: "left", tenant: "ann") == .removed)
        #expect(Set(slot.processes.values).isDisjoint(with: second.values) && slot.tenant == "ann")
        await slot.shutdown()
    }

    @Test func `no two jobs share children if a pair runs one job`() async throws {
        let slot = studio.slot { $0.jobsPerPair = 1 }
        var found: Set<Int32> = []
        for number in 1...3 { found.formUnion(try await studio.convert(slot, id: "\(number)").values) }
        #expect(found.count == 6)
        #expect(try studio.outputs() == ["1.wav", "2.wav", "3.wav"])
        await slot.shutdown()
    }

    @Test func `the children are replaced when a file that they look things up in is replaced`()
        async throws
    {
        let file = try studio.folder.write("authorities.pem", text: "first")
        let slot = studio.slot { $0.policy.certificateFile = file }
        let processes = try await studio.convert(slot, id: "one")
        // What is written into the same file is seen by who may read it.
        try Data("again".utf8).write(to: URL(filePath: file))
        #expect(try await studio.convert(slot, id: "two") == processes)
        rename(try studio.folder.write("new.pem", text: "second"), file)
        let successors = try await studio.convert(slot, id: "three")
        #expect(successors.count == 2 && Set(successors.values).isDisjoint(with: processes.values))
        #expect(try await studio.convert(slot, id: "four") == successors)
        await slot.shutdown()
    }

    @Test func `a stop ends the conversion at once, and the slot goes on`() async throws {
        let slot = studio.slot()
        let error = await #expect(throws: SlotError.self) {
            _ = try await slot.convert(studio.task("long", source: "long.wav")) { _ in slot.stop() }
        }
        guard case .stopped = error else {
            Issue.record("not stopped: \(String(describing: error))")
            return
        }
        await slot.end()
        try await studio.convert(slot, id: "after")
        #expect(try studio.outputs() == ["after.wav"])
        await slot.shutdown()
    }

    @Test func `a stop before a conversion begins holds until the job ends`() async throws {
        let slot = studio.slot()
        slot.stop()
        await #expect(throws: SlotError.self) { _ = try await slot.convert(studio.task("never")) { _ in } }
        await slot.end()
        try await studio.convert(slot, id: "after")
        #expect(try studio.outputs() == ["after.wav"])
        await slot.shutdown()
    }

    @Test func `a transcoder that falls silent is killed`() async throws {
        let slot = studio.slot { $0.silence = .seconds(4) }
        try await slot.start()
        kill(try #require(slot.processes["respool-transcode"]), SIGSTOP)
        let error = await #expect(throws: SlotError.self) { _ = try await slot.convert(studio.task("quiet")) { _ in } }
        #expect(error?.failure.message.contains("sent no message") == true, "\(error?.failure.message ?? "")")
        await slot.end()
        try await studio.convert(slot, id: "after")
        await slot.shutdown()
    }

    @Test func `a transcoder is not silent while its worker does not listen`() async throws {
        // A source that comes slowly takes no processor.
        let server = try await ChildProcess("python3", [Script.path("slow_server.py")])
        try await eventually("the server listens") { server.output.hasSuffix("\n") }
        let slot = studio.slot {
            $0.silence = .seconds(4)
            $0.policy.allowedHosts = ["127.0.0.1"]
        }
        var task = studio.task("busy")
        task.sourceURL = "http://127.0.0.1:\(server.output.dropLast())/slow"
        let heldUp = Mutex<ContinuousClock.Instant?>(nil)
        let error = await #expect(throws: SlotError.self) {
            _ = try await slot.convert(task) { progress in
                guard progress.phase == .converting else { return }
                let isFirst = heldUp.withLock { since in
                    defer { since = since ?? .now }
                    return since == nil
                }
                // The worker's own delay, during which the transcoder speaks.
                if isFirst { usleep(4_500_000) }
                if heldUp.withLock({ $0!.duration(to: .now) }) > .seconds(5) { slot.stop() }
            }
        }
        guard case .stopped = error else {
            Issue.record("not stopped: \(String(describing: error))")
            return
        }
        await slot.end()
        await slot.shutdown()
    }

    @Test(arguments: [SIGKILL, SIGSTOP])
    func `a transfer that dies or hangs before it published is a crash`(signal: Int32) async throws {
        let slot = studio.slot { $0.silence = .seconds(4) }
        _ = try await slot.convert(studio.task("late")) { _ in }
        kill(try #require(slot.processes["respool-transfer"]), signal)
        if signal == SIGKILL {
            try await eventually("the child is reaped") { slot.processes["respool-transfer"] == nil }
        }
        let error = await #expect(throws: SlotError.self) { try await slot.publish() }
        guard case .crashed = error else {
            Issue.record("not a crash: \(String(describing: error))")
            return
        }
        await slot.end()
        try await studio.convert(slot, id: "after")
        await slot.shutdown()
    }

    @Test func `a pair is replaced after its maximum number of jobs`() async throws {
        let slot = studio.slot { $0.jobsPerPair = 2 }
        let one = try await studio.convert(slot, id: "one")
        #expect(try await studio.convert(slot, id: "two") == one)
        #expect(try await studio.convert(slot, id: "three") != one)
        await slot.shutdown()
    }

    @Test func `a slot recovers the commit that a lost owner left`() async throws {
        let slot = studio.slot()
        let unpublished = try await slot.convert(studio.task("lost")) { _ in }
        await slot.end()
        #expect(try await slot.recoverCommit(unpublished, job: "lost") == .removed)
        let published = try await slot.convert(studio.task("kept")) { _ in }
        try await slot.publish()
        await slot.end()
        #expect(try await slot.recoverCommit(published, job: "kept") == .published)
        #expect(try studio.outputs() == ["kept.wav"])
        await slot.shutdown()
    }

    @Test func `an owner that thaws after its job was recovered publishes nothing`() async throws {
        let old = studio.slot()
        let new = studio.slot()
        let record = try await old.convert(studio.task("fenced")) { _ in }
        #expect(try await new.recoverCommit(record, job: "fenced") == .removed)
        let error = await #expect(throws: SlotError.self) { try await old.publish() }
        #expect(error?.failure.code == .outputFailed)
        #expect(try studio.outputs().isEmpty)
        await old.end()
        await old.shutdown()
        await new.shutdown()
    }

    @Test func `a slot reports what a source is`() async throws {
        let slot = studio.slot()
        let text = try await slot.probe(sourceURL: "file://\(studio.folder.path)/in/short.wav", id: "probe")
        #expect(text.contains("\"sample_rate\":44100"), "\(text)")
        await slot.end()
        await slot.shutdown()
    }
}
