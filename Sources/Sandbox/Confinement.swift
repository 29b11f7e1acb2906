import Glibc
package import SlotIPC

/// Confines the two child processes of a slot; it cannot be undone.
package enum Confinement {
    /// Confines the child that parses media: no files, no network, no other processes, only the descriptors that it
    /// receives.
    ///
    /// Returns the features that the kernel lacks for it.
    package static func enterTranscode() throws(SandboxError) -> [SandboxPart] {
        let hasNoPowers = try Capabilities.none.keep()
        // The muxers of Ogg and Matroska seed their random numbers from it, and take 33 ms without it.
        let hasFileRules = try FileRules(readable: ["/dev/urandom"]).enforce()
        let calls = SystemCalls.self
        let hasFilter = try SystemCallFilter(
            allowed: calls.ofAnyProgram + calls.onDescriptors + (hasFileRules ? calls.opening : []),
            refused: calls.askingPaths + (hasFileRules ? [] : calls.opening), loadsLibraries: false,
            makesSockets: false,
            locksFiles: false
        ).enforce()
        return missing(hasFileRules, hasFilter, hasNoPowers)
    }

    /// Confines the child that moves bytes: it can reach the network except the ports that the policy closes, the
    /// policy's folders and files, and the files for looking up names and certificates.
    ///
    /// Returns the features that the kernel lacks for it.
    package static func enterTransfer(_ policy: TransferPolicy) throws(SandboxError) -> [SandboxPart] {
        // A worker that runs as root converts files of its users.
        try enterTransfer(
            policy, .filesOfOthers,
            reading: policy.sourceRoots + policy.lookups + (policy.grantedSource.map { [$0] } ?? []),
            writing: [policy.outputRoot, policy.previewFolder, policy.spoolFolder, policy.cacheFolder]
                .compactMap(\.self) + policy.grantedOutputs.map(folder))
    }

    /// Confines the child that posts callbacks or traces: as `enterTransfer`, but without the folders.
    package static func enterPosting(_ policy: TransferPolicy) throws(SandboxError) -> [SandboxPart] {
        try enterTransfer(policy, .none, reading: policy.lookups, writing: [])
    }

    private static func enterTransfer(
        _ policy: TransferPolicy, _ capabilities: Capabilities, reading: [String], writing: [String]
    ) throws(SandboxError) -> [SandboxPart] {
        let hasNoPowers = try capabilities.keep()
        let rules = FileRules(
            readable: reading + libraries, writable: writing, network: .all(but: policy.closedPorts))
        let hasFileRules = try rules.enforce()
        let calls = SystemCalls.self
        let hasFilter = try SystemCallFilter(
            allowed: calls.ofAnyProgram + calls.onDescriptors + calls.opening + calls.askingPaths + calls.onFiles
                + calls.onSockets + calls.onIdentity,
            refused: [], loadsLibraries: true, makesSockets: true, locksFiles: true
        ).enforce()
        return missing(hasFileRules, hasFilter, hasNoPowers)
    }

    /// Files that any program of the system may load or read.
    private static let libraries = [
        "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/ca-certificates",
        "/usr/local/share/ca-certificates", "/usr/share/pki", "/usr/share/crypto-policies", "/usr/share/zoneinfo",
        "/dev/urandom", "/dev/null",
    ]

    /// The nearest existing folder above a file's path.
    private static func folder(of path: String) -> String {
        var path = path[...]
        repeat {
            path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        } while !path.isEmpty && access(String(path), F_OK) != 0
        return path.isEmpty ? "/" : String(path)
    }

    private static func missing(_ hasFileRules: Bool, _ hasFilter: Bool, _ hasNoPowers: Bool) -> [SandboxPart] {
        (hasFileRules ? [] : [.landlock]) + (hasFilter ? [] : [.seccomp]) + (hasNoPowers ? [] : [.capset])
    }
}
