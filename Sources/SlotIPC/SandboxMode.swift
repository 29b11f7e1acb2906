/// Whether the children of a slot are confined (`RESPOOL_SANDBOX`).
package enum SandboxMode: String, Codable, CaseIterable, Hashable, Sendable {
    /// As far as the kernel can; what it lacks is said once.
    case on
    /// Wholly, or the worker does not start.
    case require
    /// Not at all, as sanitizers and debuggers need it.
    case off
}

/// What confines a child, where the kernel knows it.
package enum SandboxPart: String, Codable, Hashable, Sendable {
    /// Keeps files, and other processes, away.
    case landlock
    /// Keeps all system calls away that the child has no use for.
    case seccomp
    /// Gives up what a process of root's may do beyond others; it need not where there is nothing to give up.
    case capset
}

extension Set<SandboxPart> {
    /// The parts in words, in a fixed order.
    package var text: String { map(\.rawValue).sorted().joined(separator: " and no ") }
}
