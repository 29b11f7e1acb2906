import CLinux
import Glibc
import Lifecycle
import SlotIPC

/// What a process may still reach by a path, or by TCP.
struct FileRules {
    /// Files, and folders with all below them; a path that is not there allows nothing.
    var readable: [String] = []
    var writable: [String] = []
    var network = Network.none

    /// Where connections may be made to.
    enum Network {
        case none
        /// Everywhere but at these ports, where the kernel knows rules for ports.
        case all(but: [UInt16])
    }

    /// Puts the rules in force for this thread and all that it starts; false if the kernel has no Landlock.
    func enforce() throws(SandboxError) -> Bool {
        let number = clinux_landlock_begin(CInt(kind.rawValue))
        guard number >= 0 else {
            let error = Errno.last
            // EPERM: a container's own filter of system calls does not know Landlock.
            if [ENOSYS, EOPNOTSUPP, EPERM].contains(error.rawValue) { return false }
            throw SandboxError(.landlock, "no rules can be made: \(error)")
        }
        let rules = Descriptor(owning: number)
        if case .all(let ports) = network, !ports.isEmpty,
            clinux_landlock_allow_other_ports(rules.number, ports, ports.count) != 0
        {
            throw SandboxError(.landlock, "the ports cannot be allowed: \(Errno.last)")
        }
        for path in readable { try allow(path, writing: false, rules) }
        for path in writable { try allow(path, writing: true, rules) }
        guard clinux_landlock_enforce(rules.number) == 0 else {
            throw SandboxError(.landlock, "the rules cannot be put in force: \(Errno.last)")
        }
        return true
    }

    private var kind: clinux_network {
        switch network {
        case .none: CLINUX_NETWORK_NONE
        case .all(let ports): ports.isEmpty ? CLINUX_NETWORK_ALL : CLINUX_NETWORK_PORTS
        }
    }

    private func allow(_ path: String, writing: Bool, _ rules: borrowing Descriptor) throws(SandboxError) {
        guard clinux_landlock_allow(rules.number, path, writing ? 1 : 0) != 0 else { return }
        let error = Errno.last
        guard ![ENOENT, ENOTDIR, EACCES].contains(error.rawValue) else { return }
        throw SandboxError(.landlock, "'\(path)' cannot be allowed: \(error)")
    }
}
