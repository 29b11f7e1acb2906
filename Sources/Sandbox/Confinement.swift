package import SlotProtocol

/// The walls around the two children of a slot; once inside, there is no way back.
package enum Confinement {
    /// Confines the child that parses media: no file, no network, no other process, only what was handed to it.
    ///
    /// Answers what the kernel lacks for it.
    package static func enterTranscode() throws(SandboxError) -> [SandboxPart] {
        // Muxers of Ogg and Matroska seed their numbers there, and take 33 ms without it.
        let hasFileRules = try FileRules(readable: ["/dev/urandom"]).enforce()
        let calls = SystemCalls.self
        let hasFilter = try SystemCallFilter(
            allowed: calls.ofAnyProgram + calls.onDescriptors + (hasFileRules ? calls.opening : []),
            refused: calls.askingPaths + (hasFileRules ? [] : calls.opening), loadsLibraries: false,
            makesSockets: false,
            locksFiles: false
        ).enforce()
        return missing(hasFileRules, hasFilter)
    }

    /// Confines the child that moves bytes: the network, its folders, and what names and certificates are looked up in.
    ///
    /// Answers what the kernel lacks for it.
    package static func enterTransfer(reading: [String], writing: [String]) throws(SandboxError) -> [SandboxPart] {
        let hasFileRules = try FileRules(readable: reading + lookups, writable: writing, keepsNetwork: true).enforce()
        let calls = SystemCalls.self
        let hasFilter = try SystemCallFilter(
            allowed: calls.ofAnyProgram + calls.onDescriptors + calls.opening + calls.askingPaths + calls.onFiles
                + calls.onSockets + calls.onIdentity,
            refused: [], loadsLibraries: true, makesSockets: true, locksFiles: true
        ).enforce()
        return missing(hasFileRules, hasFilter)
    }

    /// Where the resolver and the TLS library look: whole folders, for their files are replaced while the child runs.
    private static let lookups = [
        "/etc", "/etc/resolv.conf", "/run/systemd/resolve", "/run/NetworkManager", "/run/resolvconf", "/run/nscd",
        "/lib", "/lib64",
        "/usr/lib",
        "/usr/lib64", "/usr/local/lib", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates",
        "/usr/share/zoneinfo",
        "/dev/urandom", "/dev/null",
    ]

    private static func missing(_ hasFileRules: Bool, _ hasFilter: Bool) -> [SandboxPart] {
        (hasFileRules ? [] : [.landlock]) + (hasFilter ? [] : [.seccomp])
    }
}
