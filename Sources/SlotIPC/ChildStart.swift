import CLinux
import Configuration
import Glibc
package import Lifecycle

/// The first steps of a slot's child process.
package enum ChildStart {
    /// Binds this process to the life of the worker that started it, and gives up gaining new privileges.
    ///
    /// The worker's process id is the first argument: in a container the worker is process 1, so `getppid` returning 1
    /// does not show that the child is an orphan.
    package static func enter(arguments: [String]) throws(ChildStartError) {
        guard arguments.count == 2, let parent = pid_t(arguments[1]) else { throw .notAChild }
        guard clinux_die_with_parent() == 0, getppid() == parent else { throw .orphan }
        guard clinux_no_new_privileges() == 0 else { throw .system(.last) }
        Signals.ignoreBrokenPipes()
        // A file over its limit then causes an error (EFBIG) instead of ending the process.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// The socket to the worker; owned by the caller, so call this once.
    package static func control() -> PacketSocket { PacketSocket(owning: Descriptor(owning: ChildDescriptor.control)) }

    /// The socket to the other child of the pair; owned by the caller, so call this once.
    package static func link() -> PacketSocket { PacketSocket(owning: Descriptor(owning: ChildDescriptor.link)) }

    /// Sets the limits for memory, file size and open files, and disables core dumps.
    ///
    /// Sanitizers reserve terabytes of address space, so their builds run with `RESPOOL_MEMORY_LIMIT=off`.
    package static func limit(memoryBytes: UInt64, fileBytes: Int64, openFiles: UInt64) throws(ChildStartError) {
        if Environment.process.text(Settings.memoryLimit) != "off" {
            try set(CInt(RLIMIT_AS.rawValue), memoryBytes)
        }
        try set(CInt(RLIMIT_FSIZE.rawValue), UInt64(max(0, fileBytes)))
        try set(CInt(RLIMIT_NOFILE.rawValue), openFiles)
        try set(CInt(RLIMIT_CORE.rawValue), 0)
    }

    /// Whether the process must confine itself before its first job.
    ///
    /// Sanitizers and debuggers need features that the sandbox forbids, so their builds run with `RESPOOL_SANDBOX=off`.
    package static var isConfined: Bool { Environment.process.text(Settings.sandbox) != SandboxMode.off.rawValue }

    private static func set(_ resource: CInt, _ value: UInt64) throws(ChildStartError) {
        guard clinux_limit(resource, value) == 0 else { throw .system(.last) }
    }
}

/// Why a child cannot start.
package enum ChildStartError: Error {
    /// The program was not started by a worker.
    case notAChild
    /// The worker ended before the child could bind itself to it.
    case orphan
    case system(Errno)
}

extension ChildStartError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notAChild: "this program is started by respool itself: see `respool --help`"
        case .orphan: "the worker that started this process has exited"
        case .system(let error): "cannot confine this process: \(error)"
        }
    }
}
