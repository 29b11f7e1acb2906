import FoundationEssentials
import Glibc
import Synchronization

/// A file of the operator's that holds keys, and is read anew whenever they are wanted.
package enum KeyFile {
    private struct Reading {
        let identity: FileIdentities
        let text: String
    }

    private static let readings = Mutex<[String: Reading]>([:])

    /// The file's text; nothing if it cannot be read.
    ///
    /// Where another file takes its place during a job, the sandbox lets only the children of the next one read that; until then
    /// the text is what it was.
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
