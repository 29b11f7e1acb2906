import FoundationEssentials
import SlotIPC
import TestSupport
import Testing

/// Sources that are fetched before their jobs begin.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct PrefetchTests {
    private let folder: TemporaryFolder
    private let size = Int64(Origin.content.count)

    init() throws { folder = try TemporaryFolder() }

    private var policy: TransferPolicy {
        var policy = RemoteSourceTests.policy
        policy.spoolFolder = folder.path
        policy.prefetchReserve = 1
        return policy
    }

    private func isAsked(_ name: String, times count: Int) async throws {
        try await eventually("\(name) is asked for") { try await Origin.shared.ranges(name).count == count }
    }

    @Test func `a source is fetched before its job begins, and opened only then`() async throws {
        let url = try await Origin.shared.url("ranges", "prefetched")
        try await withTransfer(policy) { child in
            try await child.tell(.prefetch(.test(url)))
            try await child.send(.open)
            try await isAsked("prefetched", times: 1)
            #expect(try await Origin.shared.sent("prefetched") == Int(size))
            #expect(try await !child.hasAnswer())
            try await child.tell(.begin)
            guard case .opened(size, size) = try await child.answer() else {
                Issue.record("not complete")
                return
            }
            #expect(try await child.fetch(0..<size) == Origin.content)
            try await child.endJob()

            // Another job fetches for itself, and one that does not begin leaves nothing.
            try await child.tell(.prefetch(.test(url)))
            try await child.send(.open)
            try await isAsked("prefetched", times: 2)
            try await child.endJob()
        }
    }

    @Test func `a source is given up while the disk is full, and fetched anew when its job begins`() async throws {
        let library = folder.file("full-disk.so")
        let mark = folder.file("full")
        try await CompiledProgram.make(library, of: "full-disk.c", ["-shared", "-fPIC", "-DMARK=\"\(mark)\""])
        let url = try await Origin.shared.url("slow", "postponed", 200)
        try await withTransfer(policy, wrapper: ["/usr/bin/env", "LD_PRELOAD=\(library)"]) { child in
            try await child.tell(.prefetch(.test(url)))
            try await isAsked("postponed", times: 1)
            try folder.write("full", text: "")
            #expect(try await Origin.shared.sent("postponed") < Int(size))
            try await child.tell(.begin)
            guard case .opened(size, _) = try await child.ask(.open) else {
                Issue.record("not opened")
                return
            }
            #expect(try await child.fetch(0..<1000) == Array(Origin.content.prefix(1000)))
            try await child.endJob()
        }
        #expect(try await Origin.shared.ranges("postponed").count == 2)
    }

    @Test func `a stream is that of the time when the job begins`() async throws {
        let stream = try await Origin.shared.url("station", "early", 64 << 20)
        try await withTransfer(policy) { child in
            try await child.tell(.prefetch(.test(stream)))
            try await isAsked("early", times: 1)
            #expect(try await Origin.shared.sent("early") < 64 << 20)
            try await child.tell(.begin)
            guard case .openedStream = try await child.ask(.open) else {
                Issue.record("not opened")
                return
            }
            try await child.endJob()
            #expect(try await Origin.shared.lines("early").count { $0.hasPrefix("GET") } == 2)
        }
    }

    @Test func `a playlist is that of the time when the job begins`() async throws {
        let (old, new) = ("#EXTM3U\n# one\n", "#EXTM3U\n# second\n")
        try await withTransfer(policy) { child in
            // What was sent is read before the job begins: a fetch that goes on belongs to the job. A busy machine needs longer.
            for (number, pause) in [0.1, 1, 12].enumerated() {
                let list = try await Origin.shared.list("early-list-\(number)", [old, new])
                try await child.tell(.prefetch(.test(list)))
                try await eventually("it is fetched") { try await Origin.shared.sent("early-list-\(number)") > 0 }
                try await Task.sleep(for: .seconds(pause))
                try await child.tell(.begin)
                guard case .opened(let length, _) = try await child.ask(.open) else {
                    Issue.record("not opened")
                    return
                }
                let found = try await child.fetch(0..<length)
                try await child.endJob()
                if found == Array(new.utf8) { return }
            }
            Issue.record("it is the old one")
        }
    }
}
