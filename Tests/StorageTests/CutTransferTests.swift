import JobSchema
import SlotIPC
import TestSupport
import Testing

/// A transfer that is cut again and again.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct CutTransferTests {
    /// Reads at random places first and everything then, while the server cuts its first fifty answers at random places.
    @Test(arguments: [Int.random(in: 0..<1 << 30), .random(in: 0..<1 << 30)])
    func `a source is the same byte for byte after fifty cuts`(seed: Int) async throws {
        let name = "cuts-\(seed)"
        let url = try await Origin.shared.url("cut-randomly", name, seed)
        var policy = RemoteSourceTests.policy
        // Many cuts in a row may come soon after the start.
        policy.maxResumes = 50
        var random = UInt64(seed) &* 0x9e37_79b9_7f4a_7c15
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(url)))
            guard case .opened(let size, _) = try await child.ask(.open) else {
                Issue.record("not opened")
                return
            }
            #expect(size == Int64(Self.content.count))
            for _ in 0..<20 {
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let start = Int64(random >> 33) % (size - 300_000)
                let part = Int(start)..<Int(start) + 300_000
                #expect(try await child.fetch(start..<start + 300_000) == Array(Self.content[part]))
            }
            #expect(try await child.fetch(0..<size) == Self.content)
            try await child.endJob()
        }
        #expect(try await Origin.shared.lines(name).count { $0 == "CUT" } >= 50)
    }

    /// The content that goes on and on, each time turned a little further.
    private static let content: [UInt8] = (0..<40).reduce(into: []) { all, lap in
        all += Origin.content[(lap * 4099)...] + Origin.content[..<(lap * 4099)]
    }
}
