import Glibc
import JobSchema
import Lifecycle
import Slots

/// Another program of the package.
enum SiblingProgram {
    /// The absolute path: in the folder of this program, or in `../libexec/respool`. `PATH` is not searched.
    static func path(_ name: String) throws(CommandFailure) -> String {
        do throws(Failure) { return try Programs.path(name) } catch { throw .failed(error.message) }
    }

    /// The absolute path of this program.
    static func own() throws(CommandFailure) -> String { try path("respool") }

    /// Replaces this process by the program. Returns only with an error.
    static func become(_ name: String, _ words: [String]) throws(CommandFailure) -> Never {
        let path = try path(name)
        signal(SIGPIPE, SIG_DFL)
        let pointers = ([path] + words).map { strdup($0) } + [nil]
        execv(path, pointers)
        let error = Errno.last
        for pointer in pointers { free(pointer) }
        throw .failed("cannot start '\(path)': \(error)")
    }
}
