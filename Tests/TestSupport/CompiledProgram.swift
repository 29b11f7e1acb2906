import FoundationEssentials
import Glibc
import Lifecycle

/// Compiles the C programs and libraries in `Tests/Preloads`, which tests use.
package enum CompiledProgram {
    /// Puts what is compiled of the source with these options at the path; it is compiled once in a test run.
    package static func make(_ path: String, of source: String, _ options: [String] = []) async throws {
        let compiled = try await shared.program(source, options)
        unlink(path)
        guard link(compiled, path) == 0 else { throw Errno.last }
    }

    private static let shared = Compiler()

    private actor Compiler {
        private var made: [[String]: Task<String, any Error>] = [:]
        private var folder: TemporaryFolder?

        func program(_ source: String, _ options: [String]) async throws -> String {
            let key = [source] + options
            if let task = made[key] { return try await task.value }
            let folder = try self.folder ?? TemporaryFolder()
            self.folder = folder
            let path = folder.file(String(made.count))
            let task = Task {
                let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path
                let words = ["-O1", "-Wall", "-Werror"] + options + ["-o", path, "\(tests)/Preloads/\(source)"]
                let outcome = try await ChildProcess.run("clang", words)
                guard outcome.succeeded else { throw NotCompiled(description: outcome.errors) }
                return path
            }
            made[key] = task
            return try await task.value
        }
    }

    private struct NotCompiled: Error, CustomStringConvertible {
        let description: String
    }
}
