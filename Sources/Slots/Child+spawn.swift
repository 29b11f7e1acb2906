import Configuration
import Glibc
import Lifecycle
import SlotIPC

extension Child {
    /// Starts the program with a new control socket, a pipe for its standard error, and optionally a link to another
    /// child; `role` is appended to its arguments after this process's id.
    static func spawn<Report: Decodable & Sendable>(
        _ name: String, role: [String] = [], link: CInt = -1, sourceDescriptor: CInt = -1, _ handlers: Handlers<Report>
    ) async throws -> Child {
        var control = try PacketSocket.pair()
        let own = control.first.take()!
        let other = control.second.take()!
        var pipe = try OutputPipe()
        let errors = pipe.reader.take()!
        let errorsOfChild = pipe.writer.take()!
        let program = Spawner.Program(
            path: try Programs.path(name), arguments: [String(getpid())] + role, environment: inheritedEnvironment())
        let descriptors =
            [-1, -1, errorsOfChild.number, other.number, link] + (sourceDescriptor >= 0 ? [sourceDescriptor] : [])
        let pid = try await Spawner.shared.spawn(program, descriptors: descriptors)
        return try Child(name: name, pid: pid, socket: own, errors: errors, handlers)
    }

    /// The environment of a child: nothing about Redis, and no credentials.
    static func inheritedEnvironment() -> [String: String] {
        var environment = ["LANG": "C.UTF-8", "SWIFT_BACKTRACE": "enable=no"]
        for name in [
            Settings.memoryLimit.name, Settings.sandbox.name, "SSL_CERT_FILE", "SSL_CERT_DIR", "ASAN_OPTIONS",
            "LSAN_OPTIONS", "TSAN_OPTIONS", "LD_LIBRARY_PATH", "TZ",
        ] {
            if let value = Environment.process.foreign(name) { environment[name] = value }
        }
        return environment
    }
}

/// Both ends of a new pipe; each owner takes one.
struct OutputPipe: ~Copyable {
    var reader: Descriptor?
    var writer: Descriptor?

    init() throws(Errno) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .last }
        // The spawner, which starts all programs of this process, closes all other descriptors in the child.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reader = Descriptor(owning: ends[0])
        writer = Descriptor(owning: ends[1])
    }
}
