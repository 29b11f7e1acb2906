import FoundationEssentials
import SlotProtocol
import Testing

@Suite struct DocumentationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")

    private static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
    }

    /// The variables that a text names.
    private static func variables(in text: String) -> Set<String> {
        Set(text.matches(of: /RESPOOL_[A-Z0-9_]*[A-Z]/).map { String($0.0) })
    }

    @Test func `the page on jobs has a row for every field`() throws {
        let text = try Self.text("docs/jobs.md")
        for field in JobField.all {
            let fallback = field.fallback ?? (["source", "format"].contains(field.name) ? "required" : "")
            let shown = fallback.contains("<") ? "`\(fallback)`" : fallback
            let row = "| `\(field.name)` | \(field.placeholder) | \(field.summary) | \(shown) |"
            #expect(text.contains(row), "missing: \(row)")
        }
    }

    @Test func `the pages name each environment variable that is read, and no other`() throws {
        let sources = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: "Sources").path)
            .filter { $0.hasSuffix(".swift") }
        let read = try Self.variables(in: sources.map { try Self.text("Sources/\($0)") }.joined())
        #expect(read.count > 20)
        let pages = try ["README.md", "docs/operating.md"].map { try Self.text($0) }.joined()
        // All but the first are the compose file's.
        let others = [
            "RESPOOL_KEEP", "RESPOOL_WORKERS", "RESPOOL_REDIS_PASSWORD", "RESPOOL_SOURCES", "RESPOOL_WORKER_MEMORY",
            "RESPOOL_REDIS_MEMORY",
        ]
        #expect(Self.variables(in: pages).subtracting(others) == read)
    }

    @Test func `the page on errors has a row for every code`() throws {
        let text = try Self.text("docs/errors.md")
        for code in ErrorCode.allCases {
            #expect(text.contains("| `\(code.rawValue)` | \(code.summary) |"), "missing: \(code.rawValue)")
        }
    }

    @Test func `the page on security names a test for each attack, and none that is not there`() throws {
        let section = try #require(
            try Self.text("docs/security.md").split(separator: "\n## ").first { $0.hasPrefix("Attacks") })
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        #expect(rows.count > 50)
        for row in rows {
            let tests = row.matches(of: /`(\w+\/\w+)` \*([^*]+)\*/)
            #expect(!tests.isEmpty, "no test: \(row)")
            for test in tests {
                let suite = try Self.text("Tests/\(test.1).swift")
                #expect(suite.contains("func `\(test.2)`("), "missing: \(test.1) \(test.2)")
            }
        }
    }
}
