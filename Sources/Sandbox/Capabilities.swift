import CLinux
import Glibc
import Lifecycle
import SlotIPC

/// Privileges of a process beyond those of an ordinary user, as a process of root may have them.
struct Capabilities {
    private let mask: UInt64

    static let none = Capabilities(mask: 0)
    /// Reading and writing files of any owner; if file rules are in force, only files that they allow
    /// (CAP_DAC_OVERRIDE).
    static let filesOfOthers = Capabilities(mask: 1 << 1)

    /// Permanently drops all other capabilities, and prevents executed programs from gaining any. A process of an
    /// ordinary user has none. Returns false if the container prevents it.
    func keep() throws(SandboxError) -> Bool {
        // Landlock requires this of processes without CAP_SYS_ADMIN.
        guard clinux_no_new_privileges() == 0 else {
            throw SandboxError("no_new_privs cannot be set: \(Errno.last)")
        }
        guard clinux_keep_capabilities(mask) != 0 else { return true }
        let error = Errno.last
        // Caused by the container's own system call filter: the kernel allows every process to drop its capabilities.
        if [ENOSYS, EPERM].contains(error.rawValue) { return false }
        throw SandboxError(.capset, "capabilities cannot be dropped: \(error)")
    }
}
