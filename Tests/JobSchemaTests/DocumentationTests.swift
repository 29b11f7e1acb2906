import Configuration
import FoundationEssentials
import JobSchema
import Testing

@Suite struct DocumentationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")

    private static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
    }

    /// The variables that a text names.
    private static func variables(in text: String) -> Set<String> {
        Set(text.matches(of: /(?:RESPOOL|OTEL)_[A-Z0-9_]*[A-Z]/).map { String($0.0) })
    }

    /// The paths of all pages.
    private static func pages() throws -> [String] {
        let folders = try ["docs", "examples", "Tests/EndToEnd"].flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
                .map { "\(folder)/\($0)" }
        }
        return (folders + ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"]).filter { $0.hasSuffix(".md") }.sorted()
    }

    /// The anchors that a page's headings have on GitHub.
    private static func anchors(in page: String) -> Set<String> {
        Set(
            prose(page).split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
                let title = heading.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
                return String(
                    title.compactMap { $0 == " " ? "-" : $0.isLetter || $0.isNumber || "-_".contains($0) ? $0 : nil })
            })
    }

    /// A page without its blocks of code.
    private static func prose(_ page: String) -> String {
        page.split(separator: "```", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset.isMultiple(of: 2) }.map { String($0.element) }.joined()
    }

    @Test func `each link of a page leads to a file and an anchor that exist`() throws {
        let pages = try Self.pages()
        #expect(pages.count > 20)
        var links = 0
        for page in pages {
            let folder = Self.root.appending(path: page).deletingLastPathComponent()
            for match in Self.prose(try Self.text(page)).matches(of: /\]\(([^)\s]+)\)/) {
                guard !match.1.contains("://"), !match.1.hasPrefix("mailto:") else { continue }
                links += 1
                let parts = match.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(
                    String.init)
                let target = parts[0].isEmpty ? Self.root.appending(path: page) : folder.appending(path: parts[0])
                #expect(FileManager.default.fileExists(atPath: target.path), "\(page): \(match.1)")
                guard parts.count > 1, target.pathExtension == "md" else { continue }
                let text = String(decoding: try Data(contentsOf: target), as: UTF8.self)
                #expect(Self.anchors(in: text).contains(parts[1]), "\(page): \(match.1)")
            }
        }
        #expect(links > 100)
    }

    @Test func `the page on metrics has a row for each metric with its type, and no other`() throws {
        let code = try [
            "Worker/WorkerMetrics.swift", "HTTPAPI/ServerMetrics.swift", "Lifecycle/ProcessMetrics.swift",
        ].map { try Self.text("Sources/\($0)") }.joined()
        let kinds = ["count": "counter", "gauge": "gauge", "observe": "histogram"]
        let counted = Set(
            code.matches(of: /metrics\.(count|gauge|observe)\(\s*"(\w+)"/).map { "\($0.2) \(kinds[String($0.1)]!)" })
        #expect(counted.count > 10)
        let rows = try Self.text("docs/metrics.md").matches(of: /\| `((?:respool|process)_\w+)` \| (\w+) \|/)
        #expect(Set(rows.map { "\($0.1) \($0.2)" }) == counted)
        #expect(rows.count == counted.count)
        let named = Set(code.matches(of: /"((?:respool|process)_\w+)"/).map { String($0.1) })
        #expect(named == Set(rows.map { String($0.1) }))
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

    @Test func `the pages name each setting, and no other environment variable of respool's`() throws {
        let pages = try Self.pages().filter { !["CHANGELOG.md", "CONTRIBUTING.md"].contains($0) }.map {
            try Self.text($0)
        }
        .joined()
        // The compose file's, those of the examples with clients, a prefix, and an example of a misspelled name.
        let others = [
            "RESPOOL_KEEP", "RESPOOL_WORKERS", "RESPOOL_REDIS_PASSWORD", "RESPOOL_SOURCES", "RESPOOL_WORKER_MEMORY",
            "RESPOOL_REDIS_MEMORY", "RESPOOL_SLOT", "RESPOOL_URL", "RESPOOL_TOKEN",
        ]
        #expect(Self.variables(in: pages).subtracting(others) == Set(Settings.all.map(\.name)))
    }

    @Test func `the table of the page on settings is the list of settings`() throws {
        let rows = try Self.text("docs/settings.md").split(separator: "\n").filter { $0.hasPrefix("|") }
        #expect(rows == Settings.markdown.split(separator: "\n"), "run `make settings`")
    }

    @Test func `the code names no environment variable of respool's but the settings`() throws {
        let sources = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: "Sources").path)
            .filter { $0.hasSuffix(".swift") }
        let named = try Self.variables(in: sources.map { try Self.text("Sources/\($0)") }.joined())
        #expect(named.subtracting(Settings.all.map(\.name)) == [])
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
