import FoundationEssentials
import TestSupport

/// Tags files and reads tags back by mutagen, which shares no code with what is tested.
enum TagScript {
    /// What a file holds, in names of no container.
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

    /// Gives files all the tags that their formats have.
    static func tag(_ paths: [String], jpeg: String, png: String) async throws {
        _ = try await run(["tag", jpeg, png] + paths)
    }

    static func read(_ paths: [String]) async throws -> [Told] {
        try JSONDecoder().decode([Told].self, from: Data(try await run(["read"] + paths).utf8))
    }

    /// Debian's Python, which has the package of Debian's.
    private static func run(_ arguments: [String]) async throws -> String {
        let outcome = try await ChildProcess.run("/usr/bin/python3", ["-B", script] + arguments)
        guard outcome.succeeded else { throw Studio.NotMade(description: outcome.errors) }
        return outcome.output
    }

    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "EndToEnd/harness/tagging.py").path
}
