import FoundationEssentials
import SlotProtocol
import Testing

@Suite struct DocumentationTests {
    private static func readMe() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return String(decoding: try Data(contentsOf: root.appending(path: "README.md")), as: UTF8.self)
    }

    @Test func `the README has a row for every field`() throws {
        let text = try Self.readMe()
        for field in JobField.all where field.isSupported {
            let fallback = field.fallback ?? (["source", "format"].contains(field.name) ? "required" : "")
            let shown = fallback.contains("<") ? "`\(fallback)`" : fallback
            let row = "| `\(field.name)` | \(field.placeholder) | \(field.summary) | \(shown) |"
            #expect(text.contains(row), "missing: \(row)")
        }
        for field in JobField.all where !field.isSupported { #expect(text.contains("`\(field.name)`")) }
    }

    @Test func `the README has a row for every error`() throws {
        let text = try Self.readMe()
        for code in ErrorCode.allCases {
            #expect(text.contains("| `\(code.rawValue)` | \(code.summary) |"), "missing: \(code.rawValue)")
        }
    }
}
