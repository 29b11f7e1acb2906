import FoundationEssentials
import SlotProtocol
import Storage
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct NestedSourceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func policy(_ change: (inout TransferPolicy) -> Void = { _ in }) -> TransferPolicy {
        var policy = TransferPolicy()
        policy.allowedHosts = ["127.0.0.1"]
        policy.sourceRoots = [folder.path]
        policy.spoolFolder = folder.path
        change(&policy)
        return policy
    }

    @Test(arguments: [
        ("b.ts", "http://h/x/b.ts"), ("../b.ts?q=1", "http://h/b.ts?q=1"), ("/b c.ts", "http://h/b%20c.ts"),
        ("//other/b.ts", "http://other/b.ts"), ("https://other/b.ts", "https://other/b.ts"),
        ("?token=2", "http://h/x/a.m3u8?token=2"),
    ])
    func `resolves what a playlist from the web names`(reference: String, url: String) throws {
        #expect(try ReferenceURL.resolve(reference, against: "http://h/x/a.m3u8?token=1") == .web(url: url))
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://h/a", "data:text/plain,a", "concat:a|b", "crypto+file:///etc/passwd",
    ])
    func `a playlist from the web names nothing but the web`(reference: String) throws {
        let failure = #expect(throws: Failure.self) {
            _ = try ReferenceURL.resolve(reference, against: "http://h/x/a.m3u8")
        }
        #expect(failure?.code == .policyDenied)
    }

    @Test func `resolves what a local playlist names`() throws {
        let base = "\(folder.path)/a b#1.m3u8"
        #expect(try ReferenceURL.resolve("c%20d.ts", against: base) == .file(path: "\(folder.path)/c d.ts"))
        #expect(try ReferenceURL.resolve("e f.ts", against: base) == .file(path: "\(folder.path)/e f.ts"))
        #expect(try ReferenceURL.resolve("http://h/a.ts", against: base) == .web(url: "http://h/a.ts"))
    }

    @Test func `opens what a source names, relative to where it was found in the end`() async throws {
        let target = try await Origin.shared.url("list", "nested")
        let redirect = try await Origin.shared.url("redirect", "nested-from") + "?to=\(target)"
        try await withTransfer(policy()) { child in
            try await child.tell(.job(.test(redirect)))
            _ = try await child.ask(.open)
            try await child.send(.expect("/chunked/nested-b/0", within: 0, as: .segment))
            guard case .openedWhole(1) = try await child.ask(.openNested("1", within: 0, as: .playlist)),
                case .openedWhole(-1) = try await child.ask(.openNested("/chunked/nested-b/0", within: 1, as: .segment))
            else { throw NotInTime(description: "not opened") }
            let nested = await child.read(0..<Int64(Origin.content.count))
            #expect(nested == Origin.content)
            #expect(try await child.ask(.openNested("2", within: 9, as: .segment)).failure?.code == .policyDenied)
            try await child.endJob()
        }
        #expect(try await Origin.shared.lines("nested").count { $0.hasPrefix("GET ") } == 2)
    }

    @Test(arguments: [0, 1])
    func `what is no playlist names nothing`(parent: Int) async throws {
        let place = ["ranges", "list"][parent]
        let url = try await Origin.shared.url(place, "no-playlist")
        let other = try await Origin.shared.url("ranges", "not-asked-\(parent)")
        try await withTransfer(policy()) { child in
            try await child.tell(.job(.test(url)))
            _ = try await child.ask(.open)
            if parent == 1 {
                let audio = try await Origin.shared.url("ranges", "no-list")
                guard case .openedWhole(1) = try await child.ask(.openNested(audio, within: 0, as: .playlist)) else {
                    throw NotInTime(description: "not opened")
                }
            }
            let answer = try await child.ask(.openNested(other, within: parent, as: .segment))
            #expect(answer.failure?.code == .policyDenied)
        }
        #expect(try await Origin.shared.lines("not-asked-\(parent)") == [])
    }

    @Test func `a nested source is held to addresses, roots, depth, number and size`() async throws {
        let local = "file://" + (try folder.write("a.m3u8", text: "#EXTM3U"))
        try folder.write("b.m3u8", text: "#EXTM3U")
        try folder.write("large", [UInt8](repeating: 0, count: 3000))
        let policy = policy {
            $0.mostNestedSources = 10
            $0.mostSourceBytes = 4000
        }
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(local)))
            _ = try await child.ask(.open)
            let expected: [(String, Int, NestedReference, ErrorCode?)] = [
                ("http://169.254.169.254/latest", 0, .segment, .policyDenied),
                ("/etc/passwd", 0, .segment, .policyDenied),
                ("http://169.254.169.254/key", 0, .key, .policyDenied), ("/etc/passwd", 0, .key, .policyDenied),
                ("b.m3u8", 0, .playlist, nil), ("b.m3u8", 1, .playlist, nil), ("b.m3u8", 2, .playlist, .policyDenied),
                ("none", 1, .segment, .sourceNotFound), ("large", 1, .segment, nil), ("large", 1, .segment, .tooLarge),
                ("b.m3u8", 0, .segment, .tooLarge),
            ]
            for (reference, parent, kind, code) in expected {
                let answer = try await child.ask(.openNested(reference, within: parent, as: kind))
                #expect(answer.failure?.code == code, "\(reference): \(answer)")
            }
            try await child.endJob()
        }
    }
}
