import CSeccomp
import Glibc
import Lifecycle
import SlotIPC

/// The system calls that a process needs; any other call kills it.
struct SystemCallFilter {
    let allowed: [String]
    /// Calls that fail with EACCES ("permission denied"), because libraries try them and can do without.
    let refused: [String]
    /// Whether memory may become executable, as for a library that is loaded later.
    let loadsLibraries: Bool
    /// Whether internet and netlink sockets may be created. Unix domain sockets may not, because a Redis server may
    /// listen on one.
    let makesSockets: Bool
    /// Whether byte ranges of files may be locked, and leases be taken, which show whether another process has a file
    /// open.
    let locksFiles: Bool

    /// Enforces the filter for all threads; returns false if the kernel does not support filters.
    func enforce() throws(SandboxError) -> Bool {
        let rules = try Rules()
        for name in allowed { try rules.add(.allow, name) }
        for name in refused { try rules.add(.refuse(EACCES), name) }
        // The flags of clone3 are in memory, where a filter cannot read them. Without it glibc uses clone, which is
        // allowed only for threads.
        try rules.add(.refuse(ENOSYS), "clone3")
        try rules.add(.allow, "clone", [.masked(0, threadFlag, threadFlag)])
        let isNotExecutable: [Comparison] = loadsLibraries ? [] : [.masked(2, UInt64(PROT_EXEC), 0)]
        for name in ["mmap", "mprotect"] { try rules.add(.allow, name, isNotExecutable) }
        try addDescriptors(rules)
        try addSending(rules)
        if makesSockets { try addSockets(rules) }
        // FFmpeg names its threads since version 6.
        try rules.add(.allow, "prctl", [.equal(0, threadName)])
        // A process may read its own limits and kill itself.
        try rules.add(.allow, "prlimit64", [.equal(0, 0), .equal(2, 0)])
        try rules.add(.allow, "tgkill", [.equal(0, UInt64(getpid()))])
        // The resolver queries how much there is to read (FIONREAD); all other requests fail with ENOTTY.
        try rules.add(.allow, "ioctl", [.equal(1, waitingBytes)])
        try rules.add(.refuse(ENOTTY), "ioctl", [.different(1, waitingBytes)])
        return try rules.load()
    }
}

extension SystemCallFilter {
    /// Excludes commands by which the kernel sends a signal to any process when there is something to read (F_SETOWN,
    /// O_ASYNC).
    private func addDescriptors(_ rules: borrowing Rules) throws(SandboxError) {
        for command in [F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL] {
            try rules.add(.allow, "fcntl", [.equal(1, UInt64(command))])
        }
        try rules.add(.allow, "fcntl", [.equal(1, UInt64(F_SETFL)), .masked(2, UInt64(O_ASYNC), 0)])
        guard locksFiles else { return }
        for command in [lockCommand, leaseCommand] { try rules.add(.allow, "fcntl", [.equal(1, command)]) }
    }

    /// Excludes data in the first packet of a connection, because Landlock does not check it (MSG_FASTOPEN).
    private func addSending(_ rules: borrowing Rules) throws(SandboxError) {
        for (name, flags) in [("sendmsg", 2)] + (makesSockets ? [("sendto", 3), ("sendmmsg", 3)] : []) {
            try rules.add(.allow, name, [.masked(UInt32(flags), UInt64(MSG_FASTOPEN), 0)])
        }
    }

    private func addSockets(_ rules: borrowing Rules) throws(SandboxError) {
        // Only TCP and UDP: Landlock's rules for ports do not apply to other protocols that can reach TCP servers, such
        // as multipath TCP.
        let kinds = [(SOCK_STREAM, [0, IPPROTO_TCP]), (SOCK_DGRAM, [0, IPPROTO_UDP])]
        for domain in [AF_INET, AF_INET6] {
            for (type, protocols) in kinds {
                for number in protocols {
                    try rules.add(
                        .allow, "socket",
                        [.equal(0, UInt64(domain)), .masked(1, 0xf, UInt64(type.rawValue)), .equal(2, UInt64(number))])
                }
            }
        }
        // The resolver queries the kernel for the local addresses (NETLINK_ROUTE).
        try rules.add(.allow, "socket", [.equal(0, UInt64(AF_NETLINK)), .equal(2, 0)])
        // The resolver tries a caching daemon first, and works without it.
        try rules.add(.refuse(EACCES), "socket", [.equal(0, UInt64(AF_UNIX))])
        // One end of a pair of datagram sockets could send to any named socket.
        try rules.add(.allow, "socketpair", [.masked(1, 0xf, UInt64(SOCK_STREAM.rawValue))])
    }
}

/// CLONE_THREAD of `linux/sched.h`, FIONREAD of `asm-generic/ioctls.h`, PR_SET_NAME of `linux/prctl.h`, F_OFD_SETLK and
/// F_SETLEASE of `fcntl.h`, which the Glibc module does not import.
private let threadFlag: UInt64 = 0x10000
private let waitingBytes: UInt64 = 0x541b
private let threadName: UInt64 = 15
private let lockCommand: UInt64 = 37
private let leaseCommand: UInt64 = 1024

/// A condition on an argument of a call.
private enum Comparison {
    case equal(UInt32, UInt64)
    case different(UInt32, UInt64)
    /// The bits of the mask have this value.
    case masked(UInt32, UInt64, UInt64)

    var comparison: scmp_arg_cmp {
        switch self {
        case .equal(let index, let value): scmp_arg_cmp(arg: index, op: SCMP_CMP_EQ, datum_a: value, datum_b: 0)
        case .different(let index, let value): scmp_arg_cmp(arg: index, op: SCMP_CMP_NE, datum_a: value, datum_b: 0)
        case .masked(let index, let mask, let value):
            scmp_arg_cmp(arg: index, op: SCMP_CMP_MASKED_EQ, datum_a: mask, datum_b: value)
        }
    }
}

/// What the filter does with a call.
private enum Action {
    case allow
    case refuse(CInt)

    var number: UInt32 {
        switch self {
        case .allow: seccomp_swift_allow()
        case .refuse(let error): seccomp_swift_refuse(error)
        }
    }
}

/// The rules of a filter before it is loaded; owns a `scmp_filter_ctx`.
private struct Rules: ~Copyable {
    private let context: scmp_filter_ctx

    init() throws(SandboxError) {
        guard let context = seccomp_init(seccomp_swift_kill()) else {
            throw SandboxError(.seccomp, "out of memory for the seccomp filter")
        }
        self.context = context
    }

    deinit { seccomp_release(context) }

    /// Adds a rule for a call whose arguments match; a call that does not exist on this architecture is skipped.
    borrowing func add(_ action: Action, _ name: String, _ conditions: [Comparison] = []) throws(SandboxError) {
        let number = seccomp_syscall_resolve_name(name)
        guard number >= 0 else { return }
        let conditions = conditions.map(\.comparison)
        try check(seccomp_rule_add_array(context, action.number, number, UInt32(conditions.count), conditions))
    }

    /// Enforces the rules for all threads of the process; returns false if the kernel does not accept filters.
    consuming func load() throws(SandboxError) -> Bool {
        try check(seccomp_attr_set(context, SCMP_FLTATR_CTL_TSYNC, 1))
        // Without this attribute every failure of the kernel is reported as ECANCELED.
        try check(seccomp_attr_set(context, SCMP_FLTATR_API_SYSRAWRC, 1))
        let code = seccomp_load(context)
        guard code < 0 else { return true }
        // The kernel has no filters, or the container's own filter forbids adding one.
        if [ENOSYS, EINVAL, EPERM, EACCES].contains(-code) { return false }
        try check(code)
        return true
    }

    private func check(_ code: CInt) throws(SandboxError) {
        guard code < 0 else { return }
        throw SandboxError(.seccomp, "the seccomp filter cannot be created: \(Errno(rawValue: -code))")
    }
}
