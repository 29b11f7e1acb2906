import FoundationEssentials
import Glibc
import JobSchema
import SlotIPC
import TestSupport
import Testing

/// Sources that are kept for the next job.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct SourceCacheTests {
    private let folder: TemporaryFolder
    private let size = Int64(Origin.content.count)

    init() throws { folder = try TemporaryFolder() }

    private var policy: TransferPolicy {
        var policy = RemoteSourceTests.policy
        policy.cacheFolder = folder.path
        policy.stallTimeout = 300
        return policy
    }

    /// The names of the sources that are kept.
    private var kept: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }.sorted()
        }
    }

    /// Runs a job that reads all of the source, which must be what is expected.
    private func check(
        _ url: String, by child: TransferChild, headers: [String: String] = [:], has expected: [UInt8] = Origin.content
    ) async throws {
        var job = TransferJob.test(url)
        job.access.headers = headers
        try await child.tell(.job(job))
        let answer = try await child.ask(.open)
        guard case .opened(let length, _) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(try await child.fetch(0..<length) == expected)
        try await child.endJob()
    }

    @Test func `ten jobs on one source in five processes fetch it once`() async throws {
        let url = try await Origin.shared.url("slow", "ten", 5)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    try await withTransfer(policy) { child in
                        for _ in 0..<2 { try await check(url, by: child) }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await Origin.shared.sent("ten") == Origin.content.count)
        #expect(try await Origin.shared.ranges("ten").count == 10)
        #expect(try kept.count == 1)
    }

    @Test func `a changed source is fetched anew, and only its last version is kept`() async throws {
        let url = try await Origin.shared.url("editions", "editions", 2)
        try await withTransfer(policy) { child in
            try await check(url, by: child)
            try await check(url, by: child)
            for _ in 0..<2 {
                try await check(url, by: child, has: Array(Origin.content[..<(Origin.content.count / 2)]))
            }
        }
        #expect(try await Origin.shared.sent("editions") == Origin.content.count * 3 / 2)
        #expect(try kept.count == 1)
        #expect(try kept[0].hasSuffix("-%22two%22"))
    }

    @Test func `a source is found behind a redirect, and a fetch resumes after a break`() async throws {
        let target = try await Origin.shared.url("cut-once", "kept-behind", 300_000)
        let url = try await Origin.shared.url("redirect", "kept-redirect") + "?to=\(target)"
        try await withTransfer(policy) { child in
            for _ in 0..<3 { try await check(url, by: child) }
        }
        #expect(try await Origin.shared.sent("kept-behind") == Origin.content.count)
    }

    @Test func `requests with different credentials or headers share nothing`() async throws {
        let url = try await Origin.shared.url("ranges", "own-headers") + "?token=planted"
        try await withTransfer(policy) { child in
            for key in ["one", "two", "two"] {
                try await check(url, by: child, headers: ["x-key": key])
            }
        }
        #expect(try await Origin.shared.sent("own-headers") == 2 * Origin.content.count)
        #expect(try kept.count == 2)
        #expect(try !kept.contains { $0.contains("planted") || $0.contains("own-headers") })
    }

    @Test(arguments: ["dated", "no-store", "unsure", "without-validator"])
    func `a source that could differ the next time, or is cut, is not kept`(behaviour: String) async throws {
        let url = try await Origin.shared.url(behaviour, "not-kept-\(behaviour)", Origin.content.count)
        try await withTransfer(policy) { child in
            for _ in 0..<2 { try await check(url, by: child) }
        }
        #expect(try kept == [])
    }

    @Test func `a source that would not fit is read as without a cache`() async throws {
        var policy = policy
        policy.maxCacheBytes = size - 1
        let url = try await Origin.shared.url("ranges", "too-much")
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(url)))
            _ = try await child.ask(.open)
            #expect(try await child.fetch(size - 10..<size) == Array(Origin.content.suffix(10)))
            try await child.endJob()
        }
        #expect(try kept == [])
    }

    @Test func `the least recently used source is removed first`() async throws {
        var policy = policy
        policy.maxCacheBytes = size * 5 / 2
        var urls: [String] = []
        for number in 0..<3 { urls.append(try await Origin.shared.url("ranges", "many-\(number)")) }
        try await withTransfer(policy) { child in
            for url in urls[..<2] {
                try await check(url, by: child)
                try age(by: 100)
            }
            // The first is asked for again, so the second goes.
            try await check(urls[0], by: child)
            try await check(urls[2], by: child)
            #expect(try kept.count == 2)
            try await check(urls[0], by: child)
        }
        #expect(try await Origin.shared.sent("many-0") == Origin.content.count)
    }

    @Test func `no source is kept for longer than its time to live`() async throws {
        var policy = policy
        policy.maxCacheAge = 60
        let url = try await Origin.shared.url("ranges", "aged")
        try await withTransfer(policy) { child in
            try await check(url, by: child)
            try age(by: 61)
            try await check(url, by: child)
            #expect(try await Origin.shared.sent("aged") == 2 * Origin.content.count)
            try age(by: 61)
        }
        try await withTransfer(policy) { _ in }
        #expect(try kept == [])
    }

    @Test func `a fetch whose process was killed is discarded, and the next process fetches the source`() async throws {
        let url = try await Origin.shared.url("stalls-once", "killed", 300_000)
        let first = try await TransferChild.start(policy)
        try await first.tell(.job(.test(url)))
        try await first.send(.open)
        try await eventually("the first asks") {
            try await Origin.shared.ranges("killed").count == 1
        }
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(url)))
            try await child.send(.open)
            #expect(try await child.report().isWaiting == true)
            #expect(try kept == [])
            kill(first.pid, SIGKILL)
            #expect(try await child.report().isWaiting == false)
            guard case .opened(size, _) = try await child.answer() else {
                Issue.record("not opened")
                return
            }
            #expect(try await child.fetch(0..<size) == Origin.content)
            #expect(try kept.count == 1)
        }
        await first.finish()
    }

    /// Makes everything that is kept seem so many seconds older.
    private func age(by seconds: Int) throws {
        for name in try kept {
            let path = folder.file(name)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            let date = try #require(attributes[.modificationDate] as? Date)
            try FileManager.default.setAttributes(
                [.modificationDate: date.addingTimeInterval(-Double(seconds))], ofItemAtPath: path)
        }
    }
}

extension TransferReport {
    /// Whether it tells that the source waits for its turn, or does so no more; nothing if it tells something else.
    var isWaiting: Bool? {
        if case .waiting(let isWaiting) = self { isWaiting } else { nil }
    }
}
