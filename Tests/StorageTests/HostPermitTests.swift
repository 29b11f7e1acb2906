import Glibc
import SlotIPC
import TestSupport
import Testing

/// How many sources are fetched from one host at a time.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct HostPermitTests {
    private let folder: TemporaryFolder
    private let size = Int64(Origin.content.count)

    init() throws { folder = try TemporaryFolder() }

    private var policy: TransferPolicy {
        var policy = RemoteSourceTests.policy
        policy.allowedHosts.append("localhost")
        policy.spoolFolder = folder.path
        policy.maxPerHost = 2
        // Those who hold places shall do so for as long as the test takes.
        policy.stallTimeout = 300
        return policy
    }

    @Test func `a third process waits for its host, reports so, and can be stopped`() async throws {
        let stalling = try await Origin.shared.url("stalls", "places", 100_000)
        var holders: [TransferChild] = []
        for _ in 0..<2 {
            let holder = try await TransferChild.start(policy)
            try await holder.tell(.job(.test(stalling)))
            _ = try await holder.ask(.open)
            holders.append(holder)
        }
        let port = try await Origin.shared.port()
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(try await Origin.shared.url("ranges", "third"))))
            try await child.send(.open)
            #expect(try await child.report().isWaiting == true)
            try await child.endJob()
            #expect(try await Origin.shared.lines("third") == [])

            // Another host has places of its own.
            try await child.tell(.job(.test("http://localhost:\(port)/ranges/elsewhere")))
            _ = try await child.ask(.open)
            #expect(try await child.fetch(0..<size) == Origin.content)
            try await child.endJob()

            try await child.tell(.job(.test(try await Origin.shared.url("ranges", "third"))))
            try await child.send(.open)
            #expect(try await child.report().isWaiting == true)
            kill(holders[0].pid, SIGKILL)
            #expect(try await child.report().isWaiting == false)
            guard case .opened(size, _) = try await child.answer() else {
                Issue.record("not opened")
                return
            }
            #expect(try await child.fetch(0..<size) == Origin.content)
            try await child.endJob()
        }
        for holder in holders { await holder.finish() }
    }

    @Test func `a fetched source has released its permit, though its job goes on`() async throws {
        var policy = policy
        policy.maxPerHost = 1
        let url = try await Origin.shared.url("ranges", "left")
        try await withTransfer(policy) { first in
            try await withTransfer(policy) { second in
                for child in [first, second, first] {
                    try await child.endJob()
                    try await child.tell(.job(.test(url)))
                    guard case .opened = try await child.ask(.open) else {
                        Issue.record("not opened")
                        return
                    }
                    #expect(try await child.fetch(0..<size) == Origin.content)
                }
            }
        }
    }
}
