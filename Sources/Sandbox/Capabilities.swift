import CLinux
import Glibc
import Lifecycle
import SlotIPC

/// What a process may do beyond an ordinary user, as one of root's may.
struct Capabilities {
    private let mask: UInt64

    static let none = Capabilities(mask: 0)
    /// Reading and writing files whoever owns them: where rules for files hold, none but those that they allow. (CAP_DAC_OVERRIDE)
    static let filesOfOthers = Capabilities(mask: 1 << 1)

    /// Gives up all others, and gaining any by a program that is run, for good; an ordinary user's process has none. False if the
    /// container refuses that.
    func keep() throws(SandboxError) -> Bool {
        // Landlock asks for that of whoever may not administer the system.
        guard clinux_no_new_privileges() == 0 else {
            throw SandboxError("new privileges cannot be given up: \(Errno.last)")
        }
        guard clinux_keep_capabilities(mask) != 0 else { return true }
        let error = Errno.last
        // A container's own filter of system calls: the kernel lets everybody give up what he has.
        if [ENOSYS, EPERM].contains(error.rawValue) { return false }
        throw SandboxError(.capset, "capabilities cannot be given up: \(error)")
    }
}
