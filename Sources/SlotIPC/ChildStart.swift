import CLinux
import Glibc
package import Lifecycle

/// What a child of a slot does before anything else.
package enum ChildStart {
    /// Ties this process to the worker that started it, and gives up new privileges.
    ///
    /// The worker's process id is the first argument: in a container the worker is process 1, so an orphan cannot be told
    /// by that number.
    package static func enter(arguments: [String]) throws(ChildStartError) {
        guard arguments.count == 2, let parent = pid_t(arguments[1]) else { throw .notAChild }
        guard clinux_die_with_parent() == 0, getppid() == parent else { throw .orphan }
        guard clinux_no_new_privileges() == 0 else { throw .system(.last) }
        Signals.ignoreBrokenPipes()
        // A file over its limit is then an error (EFBIG) instead of the end of the process.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Gives memory that was freed back to the kernel.
    package static func returnFreeMemory() { clinux_return_free_memory() }

    /// The socket to the worker; owned by the caller, once.
    package static func control() -> PacketSocket { PacketSocket(owning: Descriptor(owning: ChildDescriptor.control)) }

    /// The socket to the other child of the pair; owned by the caller, once.
    package static func link() -> PacketSocket { PacketSocket(owning: Descriptor(owning: ChildDescriptor.link)) }

    /// Sets the limits of memory, of the size of a file, and of open files; no core is written.
    ///
    /// Sanitizers reserve terabytes of address space, so their builds run with `RESPOOL_MEMORY_LIMIT=off`.
    package static func limit(memoryBytes: UInt64, fileBytes: Int64, openFiles: UInt64) throws(ChildStartError) {
        if Environment.value("RESPOOL_MEMORY_LIMIT") != "off" {
            try set(CInt(RLIMIT_AS.rawValue), memoryBytes)
        }
        try set(CInt(RLIMIT_FSIZE.rawValue), UInt64(max(0, fileBytes)))
        try set(CInt(RLIMIT_NOFILE.rawValue), openFiles)
        try set(CInt(RLIMIT_CORE.rawValue), 0)
    }

    /// Whether the process is to shut itself in before its first job.
    ///
    /// Sanitizers and debuggers need what the sandbox takes away, so their builds run with `RESPOOL_SANDBOX=off`.
    package static var isConfined: Bool { Environment.value("RESPOOL_SANDBOX") != SandboxMode.off.rawValue }

    private static func set(_ resource: CInt, _ value: UInt64) throws(ChildStartError) {
        guard clinux_limit(resource, value) == 0 else { throw .system(.last) }
    }
}

/// Why a child cannot begin.
package enum ChildStartError: Error {
    /// The program was started by hand.
    case notAChild
    /// The worker was gone before the child could tie itself to it.
    case orphan
    case system(Errno)
}

extension ChildStartError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notAChild: "this program is a part of respool and is started by it: try `respool --help`"
        case .orphan: "the worker that started this process is gone"
        case .system(let error): "cannot confine this process: \(error)"
        }
    }
}
