import FoundationEssentials
import TestSupport

/// Writes and reads tags with mutagen, which shares no code with respool.
enum TagScript {
    /// The metadata of a file, independent of its container.
    struct Told: Decodable {
        let texts: [String: [String]]
        let pictures: [Picture]
        let chapters: [Chapter]
        let lines: [String]

        struct Picture: Decodable, Hashable {
            let kind: Int
            let mime: String
            let description: String
            let digest: String
        }

        struct Chapter: Decodable, Hashable {
            let start: Int
            let title: String
        }
    }

    /// Writes all tags to files that their formats support.
    static func tag(_ paths: [String], jpeg: String, png: String) async throws {
        _ = try await run(["tag", jpeg, png] + paths)
    }

    static func read(_ paths: [String]) async throws -> [Told] {
        try JSONDecoder().decode([Told].self, from: Data(try await run(["read"] + paths).utf8))
    }

    /// Debian's Python, for which Debian's mutagen package is installed.
    private static func run(_ arguments: [String]) async throws -> String {
        let outcome = try await ChildProcess.run("/usr/bin/python3", ["-B", script] + arguments)
        guard outcome.succeeded else { throw Studio.NotMade(description: outcome.errors) }
        return outcome.output
    }

    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "EndToEnd/harness/tagging.py").path
}
