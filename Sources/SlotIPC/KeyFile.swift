import FoundationEssentials
import Glibc
import Synchronization

/// A key file of the operator, read again at each use.
package enum KeyFile {
    private struct Reading {
        let identity: FileIdentities
        let text: String
    }

    private static let readings = Mutex<[String: Reading]>([:])

    /// The file's text; `nil` if it cannot be read.
    ///
    /// If the file is replaced during a job, the sandbox prevents the current children from reading the new one; until
    /// the next job the old text is returned.
    package static func text(_ path: String) -> String? {
        let identity = FileIdentities(of: [path])
        if let text = try? String(contentsOfFile: path, encoding: .utf8) {
            readings.withLock { $0[path] = Reading(identity: identity, text: text) }
            return text
        }
        guard access(path, F_OK) == 0, let last = readings.withLock({ $0[path] }), last.identity != identity else {
            return nil
        }
        return last.text
    }
}
