import FoundationEssentials
import Glibc
package import JobSchema

/// The locations of the programs of this installation.
package enum Programs {
    /// The path of a program: in the folder of this one, or in `../libexec/respool`; `PATH` is not used.
    package static func path(_ name: String) throws(Failure) -> String {
        let folder = ownFolder()
        for candidate in ["\(folder)/\(name)", "\(folder)/../libexec/respool/\(name)"]
        where access(candidate, X_OK) == 0 {
            return candidate
        }
        throw Failure(
            .internal, "\(name) is neither in \(folder) nor in \(folder)/../libexec/respool: install respool again")
    }

    private static func ownFolder() -> String {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/"
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }
}
