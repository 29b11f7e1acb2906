import CLinux
import Glibc
import Synchronization

/// Starts the child processes of this process, all from one thread that lives as long as the process.
///
/// A child's parent death signal is bound to the thread that spawned it, not to the process. A thread that ends (of a
/// Dispatch queue or the cooperative pool) would therefore end its children (prctl(2), PR_SET_PDEATHSIG).
package final class Spawner: Sendable {
    /// The only spawner of the process.
    package static let shared = Spawner()

    /// The program to start.
    package struct Program: Sendable {
        /// The absolute path of the program.
        package let path: String
        /// The arguments after the program's name.
        package let arguments: [String]
        /// The complete environment of the child.
        package let environment: [String: String]

        package init(path: String, arguments: [String], environment: [String: String]) {
            self.path = path
            self.arguments = arguments
            self.environment = environment
        }
    }

    private struct Request: Sendable {
        let program: Program
        let descriptors: [CInt]
        let answer: @Sendable (Result<CInt, Errno>) -> Void
    }

    private let requests = RequestQueue<Request>()

    private init() {
        let requests = requests
        startThread {
            while true { Self.serve(requests.next()) }
        }
    }

    /// Starts the program with a copy of each descriptor under its index, or `/dev/null` if it is -1, and returns its
    /// process id. The caller still owns the descriptors. The corresponding C function is `posix_spawnp`.
    package func spawn(_ program: Program, descriptors: [CInt]) async throws(Errno) -> CInt {
        let result = await withCheckedContinuation { continuation in
            requests.append(
                Request(program: program, descriptors: descriptors) { @Sendable in
                    continuation.resume(returning: $0)
                })
        }
        return try result.get()
    }

    private static func serve(_ request: Request) {
        let arguments = [request.program.path] + request.program.arguments
        let environment = request.program.environment.map { "\($0.key)=\($0.value)" }
        var pid: pid_t = 0
        let error = withCStrings(arguments) { arguments in
            withCStrings(environment) { environment in
                clinux_spawn(
                    &pid, request.program.path, arguments, environment, request.descriptors,
                    CInt(request.descriptors.count))
            }
        }
        request.answer(error == 0 ? .success(pid) : .failure(Errno(rawValue: error)))
    }
}

/// Calls the body with a null-terminated array of C strings, which are valid until it returns.
private func withCStrings<R>(_ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R)
    -> R
{
    var pointers = strings.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
}
