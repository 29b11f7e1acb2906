import Glibc
import Lifecycle
import SlotProtocol

extension Child {
    /// Starts the program with a control socket of its own, and perhaps a link to another child; `role` follows this
    /// process's id among its arguments.
    static func spawn<Report: Decodable & Sendable>(
        _ name: String, role: [String] = [], link: CInt = -1, source: CInt = -1,
        _ report: @escaping @Sendable (Report) -> Void,
        _ ended: @escaping @Sendable (Ending) -> Void
    ) async throws -> Child {
        var control = try PacketSocket.pair()
        let own = control.first.take()!
        let other = control.second.take()!
        let program = Spawner.Program(
            path: try Programs.path(name), arguments: [String(getpid())] + role, environment: inheritedEnvironment())
        let descriptors = [-1, -1, STDERR_FILENO, other.number, link] + (source >= 0 ? [source] : [])
        let pid = try await Spawner.shared.spawn(program, descriptors: descriptors)
        return Child(name: name, pid: pid, socket: own, report: report, ended: ended)
    }

    /// What a child may know of the worker's environment: nothing of Redis, and no credentials.
    private static func inheritedEnvironment() -> [String: String] {
        var environment = ["LANG": "C.UTF-8", "SWIFT_BACKTRACE": "enable=no"]
        for name in [
            "RESPOOL_MEMORY_LIMIT", "RESPOOL_SANDBOX", "SSL_CERT_FILE", "SSL_CERT_DIR", "ASAN_OPTIONS", "LSAN_OPTIONS",
            "TSAN_OPTIONS",
            "LD_LIBRARY_PATH", "TZ",
        ] {
            if let value = Environment.value(name) { environment[name] = value }
        }
        return environment
    }
}
