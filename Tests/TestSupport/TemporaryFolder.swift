import FoundationEssentials
import Glibc
package import Lifecycle
import Synchronization

/// A separate folder, by default under /tmp. It is removed with its contents by `deinit`, or when the process ends.
package final class TemporaryFolder: Sendable {
    package let path: String

    private static let existing: Mutex<Set<String>> = {
        atexit { TemporaryFolder.removeAll() }
        return Mutex([])
    }()

    package init(under parent: String = "/tmp") throws(Errno) {
        // TMPDIR is not used, because the path of a unix socket must be shorter than 108 bytes.
        var template = Array("\(parent)/respool-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .last }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.path = path
        _ = Self.existing.withLock { $0.insert(path) }
    }

    deinit {
        _ = Self.existing.withLock { $0.remove(path) }
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file in the folder.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file into the folder and returns its path.
    @discardableResult
    package func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
        let path = file(name)
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    /// Writes a text file into the folder and returns its path.
    @discardableResult
    package func write(_ name: String, text: String) throws -> String { try write(name, text.utf8) }

    /// Writes a shell script that can be executed and returns its path.
    ///
    /// A child writes it: a descriptor of this process would be inherited by children that other tests start at that
    /// moment, and a file that is open for writing cannot be executed (ETXTBSY).
    @discardableResult
    package func script(_ name: String, _ text: String) async throws -> String {
        let path = file(name)
        let outcome = try await ChildProcess.run(
            "sh", ["-c", "cat > \"$0\" && chmod 755 \"$0\"", path], input: .bytes(Array("#!/bin/sh\n\(text)\n".utf8)))
        guard outcome.succeeded else { throw NotInTime(description: outcome.errors) }
        return path
    }

    /// Copies a program into the folder, by a child for the same reason.
    package func copy(ofProgram name: String) async throws {
        let outcome = try await ChildProcess.run("cp", [Programs.path(name), file(name)])
        guard outcome.succeeded else { throw NotInTime(description: outcome.errors) }
    }

    private static func removeAll() {
        for path in existing.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
    }
}
