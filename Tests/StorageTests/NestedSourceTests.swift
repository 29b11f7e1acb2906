import FoundationEssentials
import Glibc
import JobSchema
import LocalFiles
import Requests
import SlotIPC
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct NestedSourceTests {
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
    func `the names in a playlist from the web are resolved`(reference: String, url: String) throws {
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

    @Test func `the names in a local playlist are resolved`() throws {
        let base = "\(folder.path)/a b#1.m3u8"
        #expect(try ReferenceURL.resolve("c%20d.ts", against: base) == .file(path: "\(folder.path)/c d.ts"))
        #expect(try ReferenceURL.resolve("e f.ts", against: base) == .file(path: "\(folder.path)/e f.ts"))
        #expect(try ReferenceURL.resolve("http://h/a.ts", against: base) == .web(url: "http://h/a.ts"))
    }

    /// A media playlist of these segments, behind these lines.
    private func media(_ segments: [String], _ lines: [String] = []) -> String {
        (["#EXTM3U", "#EXT-X-TARGETDURATION:2"] + lines + segments.flatMap { ["#EXTINF:2,", $0] } + [""])
            .joined(separator: "\n")
    }

    private func master(_ variants: [String]) -> String {
        "#EXTM3U\n" + variants.map { "#EXT-X-STREAM-INF:BANDWIDTH=1\n\($0)\n" }.joined()
    }

    @Test func `a nested name is resolved relative to where its source was finally found`() async throws {
        let inner = try await Origin.shared.list("x", [media(["/chunked/nested-b/0"])]).drop { $0 != "?" }
        let target = try await Origin.shared.list("nested", [master(["1\(inner)"])])
        let redirect = try await Origin.shared.url("redirect", "nested-from")
        let source = redirect + "?to=" + Origin.encoded(target)
        try await withTransfer(policy()) { child in
            try await child.tell(.job(.test(source)))
            _ = try await child.ask(.open)
            guard case .openedWhole(1) = try await child.ask(.openNested("1\(inner)", within: 0, as: .playlist)) else {
                throw NotInTime(description: "not opened")
            }
            try await child.send(.expect("/chunked/nested-b/0", within: 1, as: .segment))
            guard
                case .openedWhole(-1) = try await child.ask(.openNested("/chunked/nested-b/0", within: 1, as: .segment))
            else { throw NotInTime(description: "not opened") }
            let nested = await child.read(0..<Int64(Origin.content.count))
            #expect(nested == Origin.content)
            #expect(try await child.ask(.openNested("2", within: 9, as: .segment)).failure?.code == .policyDenied)
            try await child.endJob()
        }
        #expect(try await Origin.shared.lines("nested").count { $0.hasPrefix("GET ") } == 2)
        #expect(try await Origin.shared.lines("nested-b").count { $0.hasPrefix("GET ") } == 1)
    }

    @Test func `a playlist names exactly its entries, each with its kind`() async throws {
        let lines = [
            "# http://127.0.0.1/ranges/not-named/0", "#EXT-X-KEY:METHOD=AES-128,URI=\"key\",IV=0x1",
            "#EXT-X-MAP:URI=\"init.mp4\"",
        ]
        for name in ["key", "init.mp4", "a.ts", "a.ts?x=1", "b.ts", ".ts", "not-named"] {
            try folder.write(name, [UInt8](repeating: 7, count: 16))
        }
        let local = "file://" + (try folder.write("list.m3u8", text: media(["a.ts", "b.ts"], lines)))
        try folder.write("other.m3u8", text: media(["c.ts"]))
        let chooser =
            master(["list.m3u8"]) + "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"a\",URI=\"other.m3u8\"\n"
        let top = "file://" + (try folder.write("top.m3u8", text: chooser))
        let named: Set = ["segment a.ts", "segment b.ts", "key key", "map init.mp4"]
        let variants: Set = ["playlist list.m3u8", "playlist other.m3u8"]
        let references = [
            "a.ts", "b.ts", "key", "init.mp4", "list.m3u8", "other.m3u8", ".ts", "a.ts?x=1", "./a.ts", "A.TS", "a.ts ",
            "not-named", "http://127.0.0.1/ranges/not-named/0", "", "file://\(folder.path)/a.ts", "a.ts\nb.ts",
        ]
        try await withTransfer(policy()) { child in
            for (source, expected) in [(local, named), (top, variants)] {
                try await child.tell(.job(.test(source)))
                _ = try await child.ask(.open)
                for reference in references {
                    for kind in [NestedReference.segment, .key, .map, .playlist] {
                        let answer = try await child.ask(.openNested(reference, within: 0, as: kind))
                        // The source itself may be read once more.
                        let isNamed =
                            expected.contains("\(kind.rawValue) \(reference)")
                            || reference.isEmpty && kind == .playlist
                        #expect(
                            answer.failure?.code == (isNamed ? nil : .policyDenied), "\(kind) '\(reference)': \(answer)"
                        )
                    }
                }
                try await child.endJob()
            }
        }
    }

    @Test func `each reading of a live playlist names its current entries`() async throws {
        let readings = [["1", "2"], ["2", "3"], ["3", "4"], ["4", "5"]].map { names in
            media(names.map { "/ranges/live-\($0)/0" })
        }
        let source = try await Origin.shared.list("live", readings)
        try await withTransfer(policy()) { child in
            try await child.tell(.job(.test(source)))
            _ = try await child.ask(.open)
            for number in 1...3 {
                guard case .openedWhole(number) = try await child.ask(.openNested("", within: 0, as: .playlist)) else {
                    throw NotInTime(description: "not opened")
                }
            }
            for (parent, segment, isNamed) in [
                (0, 1, true), (0, 3, false), (1, 2, false), (2, 3, true), (2, 5, false), (3, 5, true), (3, 3, false),
            ] {
                let answer = try await child.ask(
                    .openNested("/ranges/live-\(segment)/0", within: parent, as: .segment))
                #expect(answer.failure?.code == (isNamed ? nil : .policyDenied), "\(segment) in \(parent)")
            }
            try await child.endJob()
        }
    }

    @Test func `a playlist of a day and one of nothing but lines take no more time than their length, and no memory`()
        async throws
    {
        func day(_ count: Int) -> String { media((0..<count).map { "segment-\($0).ts?token=0123456789abcdef" }) }
        func blank(_ count: Int) -> String {
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\na.ts\n" + String(repeating: "#\n", count: 2 * count)
        }
        func commas(_ count: Int) -> String {
            let attributes = "#EXT-X-STREAM-INF:" + String(repeating: "A=,", count: count / 5) + "\n"
            return "#EXTM3U\n" + String(repeating: attributes, count: 20)
        }
        try await withTransfer(policy()) { child in
            for (name, text) in [("day", day), ("blank", blank), ("commas", commas)] {
                var times: [Double] = []
                for count in [25_000, 100_000] {
                    let file = try folder.write("\(name).m3u8", text: text(count))
                    try await child.tell(.job(.test("file://" + file)))
                    _ = try await child.ask(.open)
                    let start = try child.processorTime()
                    let answer = try await child.ask(.openNested("segment-100000.ts", within: 0, as: .segment))
                    #expect(answer.failure?.code == .policyDenied)
                    times.append(try child.processorTime() - start)
                    try await child.endJob()
                }
                // Four times the length; if each line were compared with all others, it would be sixteen times.
                #expect(times[1] < 8 * times[0] + 0.1, "\(name): \(times)")
            }
            #expect(try child.peakMemory() < 80 << 20)
        }
    }

    @Test(arguments: [0, 1])
    func `a file that is no playlist names nothing`(parent: Int) async throws {
        let other = try await Origin.shared.url("ranges", "not-asked-\(parent)")
        let audio = try await Origin.shared.url("ranges", "no-list")
        let list = try await Origin.shared.list("no-playlist", [master([audio])])
        let url = parent == 0 ? try await Origin.shared.url("ranges", "no-playlist") : list
        try await withTransfer(policy()) { child in
            try await child.tell(.job(.test(url)))
            _ = try await child.ask(.open)
            if parent == 1 {
                guard case .openedWhole(1) = try await child.ask(.openNested(audio, within: 0, as: .playlist)) else {
                    throw NotInTime(description: "not opened")
                }
            }
            let answer = try await child.ask(.openNested(other, within: parent, as: .segment))
            #expect(answer.failure?.code == .policyDenied)
        }
        #expect(try await Origin.shared.lines("not-asked-\(parent)") == [])
    }

    @Test func `a nested source is limited in addresses, roots, depth, number and size`() async throws {
        let keys = ["http://169.254.169.254/key", "/etc/passwd"].map { "#EXT-X-KEY:METHOD=AES-128,URI=\"\($0)\"" }
        let segments = ["http://169.254.169.254/latest", "/etc/passwd", "none", "large", "more"]
        let lines = media(segments, [keys[0]]) + keys[1] + "\n#EXTINF:2,\nlast\n"
        let named = "file://" + (try folder.write("named.m3u8", text: lines))
        let deep = "file://" + (try folder.write("deep.m3u8", text: master(["deep.m3u8"])))
        try folder.write("large", [UInt8](repeating: 0, count: 3000))
        let policy = policy {
            $0.maxNestedSources = 10
            $0.maxSourceBytes = 4000
        }
        let expected: [(String, [(String, Int, NestedReference, ErrorCode?)])] = [
            (
                named,
                [
                    ("http://169.254.169.254/latest", 0, .segment, .policyDenied),
                    ("/etc/passwd", 0, .segment, .policyDenied),
                    ("http://169.254.169.254/key", 0, .key, .policyDenied), ("/etc/passwd", 0, .key, .policyDenied),
                    ("none", 0, .segment, .sourceNotFound), ("large", 0, .segment, nil),
                    ("large", 0, .segment, .tooLarge), ("more", 0, .segment, .sourceNotFound),
                    ("more", 0, .segment, .sourceNotFound), ("more", 0, .segment, .sourceNotFound),
                    ("more", 0, .segment, .tooLarge),
                ]
            ),
            (
                deep,
                [
                    ("deep.m3u8", 0, .playlist, nil), ("deep.m3u8", 1, .playlist, nil),
                    ("deep.m3u8", 2, .playlist, .policyDenied),
                ]
            ),
        ]
        try await withTransfer(policy) { child in
            for (source, questions) in expected {
                try await child.tell(.job(.test(source)))
                _ = try await child.ask(.open)
                for (reference, parent, kind, code) in questions {
                    let answer = try await child.ask(.openNested(reference, within: parent, as: kind))
                    #expect(answer.failure?.code == code, "\(reference): \(answer)")
                    // It is not that they are not named.
                    #expect(answer.failure?.message.contains("does not name") != true, "\(reference): \(answer)")
                }
                try await child.endJob()
            }
        }
    }
}

extension TransferChild {
    /// Seconds of a processor that the child has taken; how busy the machine is does not matter.
    fileprivate nonisolated func processorTime() throws -> Double {
        let status = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
        let ticks = status.drop { $0 != ")" }.split(separator: " ")[12...13].compactMap { Double($0) }
        return ticks.reduce(0, +) / Double(sysconf(CInt(_SC_CLK_TCK)))
    }
}
