/// Whether the children of a slot are confined (`RESPOOL_SANDBOX`).
package enum SandboxMode: String, Codable, CaseIterable, Hashable, Sendable {
    /// As far as the kernel supports it; missing features are logged once.
    case on
    /// Completely; otherwise the worker does not start.
    case require
    /// Not at all, for sanitizers and debuggers.
    case off
}

/// The features that confine a child, if the kernel supports them.
package enum SandboxPart: String, Codable, Hashable, Sendable {
    /// Blocks access to files and other processes.
    case landlock
    /// Blocks all system calls that the child does not need.
    case seccomp
    /// Drops the privileges of a process of root; not needed if there are none.
    case capset
}

extension Set<SandboxPart> {
    /// The names of the parts, sorted and joined for a message.
    package var text: String { map(\.rawValue).sorted().joined(separator: " and no ") }
}
