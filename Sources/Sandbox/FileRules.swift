import CLinux
import Glibc
import Lifecycle
import SlotIPC

/// Which paths and TCP ports a process can still reach.
struct FileRules {
    /// Files, and folders with everything below them; a path that does not exist allows nothing.
    var readable: [String] = []
    var writable: [String] = []
    var network = Network.none

    /// The ports to which a process may connect.
    enum Network {
        case none
        /// All except these ports, if the kernel supports rules for ports.
        case all(but: [UInt16])
    }

    /// Enforces the rules for this thread and all threads and processes that it starts; returns false if the kernel has
    /// no Landlock.
    func enforce() throws(SandboxError) -> Bool {
        let number = clinux_landlock_begin(CInt(kind.rawValue))
        guard number >= 0 else {
            let error = Errno.last
            // EPERM: the container's own system call filter does not include Landlock.
            if [ENOSYS, EOPNOTSUPP, EPERM].contains(error.rawValue) { return false }
            throw SandboxError(.landlock, "Landlock rules cannot be created: \(error)")
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
            throw SandboxError(.landlock, "Landlock rules cannot be enforced: \(Errno.last)")
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
