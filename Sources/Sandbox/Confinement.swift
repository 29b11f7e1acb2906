import Glibc
package import SlotIPC

/// The walls around the two children of a slot; once inside, there is no way back.
package enum Confinement {
    /// Confines the child that parses media: no file, no network, no other process, only what was handed to it.
    ///
    /// Answers what the kernel lacks for it.
    package static func enterTranscode() throws(SandboxError) -> [SandboxPart] {
        let hasNoPowers = try Capabilities.none.keep()
        // Muxers of Ogg and Matroska seed their numbers there, and take 33 ms without it.
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

    /// Confines the child that moves bytes: the network but the ports that the policy closes, the policy's folders and files, and
    /// what names and certificates are looked up in.
    ///
    /// Answers what the kernel lacks for it.
    package static func enterTransfer(_ policy: TransferPolicy) throws(SandboxError) -> [SandboxPart] {
        // A worker of root's converts its users' files.
        try enterTransfer(
            policy, .filesOfOthers,
            reading: policy.sourceRoots + policy.lookups + (policy.grantedSource.map { [$0] } ?? []),
            writing: [policy.outputRoot, policy.spoolFolder, policy.cacheFolder].compactMap(\.self)
                + policy.grantedOutputs.map(folder))
    }

    /// Confines the child that sends callbacks: as the one that moves bytes, but for the folders.
    package static func enterCallbacks(_ policy: TransferPolicy) throws(SandboxError) -> [SandboxPart] {
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

    /// What every program of the system may want to load or read.
    private static let libraries = [
        "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/ca-certificates",
        "/usr/local/share/ca-certificates", "/usr/share/pki", "/usr/share/crypto-policies", "/usr/share/zoneinfo",
        "/dev/urandom", "/dev/null",
    ]

    /// The folder that a file lies in, or will once it is made.
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
