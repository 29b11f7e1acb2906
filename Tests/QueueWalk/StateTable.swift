import FoundationEssentials

/// The changes of a job's state that the table of `docs/queue.md` lists, each with the scripts that make it.
struct StateTable: Sendable {
    struct Change: Hashable, Sendable, CustomStringConvertible {
        let from: String
        let to: String

        var description: String { "\(from) → \(to)" }
    }

    struct Malformed: Error, CustomStringConvertible { let description: String }

    private(set) var scripts: [Change: Set<String>] = [:]

    init() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/queue.md")
        let text = String(decoding: try Data(contentsOf: page), as: UTF8.self)
        guard let section = text.split(separator: "\n## ").first(where: { $0.hasPrefix("States\n") }) else {
            throw Malformed(description: "docs/queue.md has no section `States`")
        }
        // Each row: states before, states after, when, scripts.
        for row in section.split(separator: "\n") where row.hasPrefix("| `") {
            let cells: [[String]] = row.split(separator: "|").map { Self.names(in: $0) }
            guard cells.count == 4, !cells[3].isEmpty else {
                throw Malformed(description: "docs/queue.md: not four cells, or no script: \(row)")
            }
            for from in cells[0] {
                for to in cells[1] { scripts[Change(from: from, to: to), default: []].formUnion(cells[3]) }
            }
        }
    }

    /// The names in backticks.
    private static func names(in cell: Substring) -> [String] {
        cell.matches(of: /`(\w+)`/).map { String($0.1) }
    }
}
