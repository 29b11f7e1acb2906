import FoundationEssentials

/// Compiles the C programs and libraries in `Tests/Preloads`, which tests use.
package enum CompiledProgram {
    /// Compiles the source with these options.
    package static func make(_ path: String, of source: String, _ options: [String] = []) async throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path
        let words = ["-O1", "-Wall", "-Werror"] + options + ["-o", path, "\(tests)/Preloads/\(source)"]
        let outcome = try await ChildProcess.run("clang", words)
        guard outcome.succeeded else { throw NotCompiled(description: outcome.errors) }
    }

    private struct NotCompiled: Error, CustomStringConvertible {
        let description: String
    }
}
