import Foundation
import Testing

/// Whether `docs/protocol.md` and the scripts speak of the same keys and events.
@Suite struct ProtocolPageTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static func scripts() throws -> String {
        let folder = "Sources/Jobs/Scripts"
        return try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            .map { try text("\(folder)/\($0)") }.joined()
    }

    /// What stands in backticks in the first cells of a section's tables.
    private static func names(in section: String) throws -> Set<String> {
        let page = try text("docs/protocol.md")
        let part = try #require(page.split(separator: "\n## ").first { $0.hasPrefix(section) })
        let cells = part.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { $0.split(separator: "|")[0] }
        return Set(cells.flatMap { $0.matches(of: /`([^`]+)`/).map { String($0.1) } })
    }

    /// `group` of `group:<name>:ids`.
    private static func kind(_ key: some StringProtocol) -> String { String(key.prefix { $0 != ":" }) }

    @Test func `the page names each existing key, and no other`() throws {
        var keys = Set(try Self.scripts().matches(of: /P \.\. '([a-z]+)/).map { String($0.1) })
        keys.formUnion(
            try Self.text("Sources/Jobs/QueueKeys.swift").matches(of: /prefix \+ "([a-z]+)/).map { String($0.1) })
        #expect(keys.count > 25)
        let page = try Self.text("docs/protocol.md")
        for key in keys { #expect(page.contains("`\(key)`") || page.contains("\(key):<"), "\(key)") }
        for name in try Self.names(in: "The queue as a whole") { #expect(keys.contains(Self.kind(name)), "\(name)") }
    }

    @Test func `each time is from the clock of Redis, as the page states, and none from a worker's`() throws {
        let clocks = try Self.scripts().matches(of: /'TIME'|os\.(time|clock|date)/).map { String($0.0) }
        #expect(clocks == ["'TIME'"])
        for folder in ["Sources/Jobs", "Sources/Worker"] {
            for case let name as String in FileManager.default.enumerator(
                atPath: Self.root.appending(path: folder).path)!
            where name.hasSuffix(".swift") {
                let text = try Self.text("\(folder)/\(name)")
                // A log's lines are for people: `timestamp()` is the worker's.
                #expect(!text.contains(/WallClock\.milliseconds\(\)|Date\(\)|CLOCK_REALTIME/), "\(name)")
            }
        }
    }

    @Test func `the page names each existing event, and no other`() throws {
        let scripts = try Self.scripts()
        let told = Set(scripts.matches(of: /event\([^,]+, '([a-z_]+)'/).map { String($0.1) })
        #expect(told.count > 8)
        let events = try Self.names(in: "Following events")
        #expect(told.subtracting(events) == [])
        for name in events { #expect(scripts.contains("'\(name)'"), "\(name)") }
    }
}
