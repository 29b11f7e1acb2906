import Glibc

/// Which files are at some paths, links followed: to notice that another has taken the place of one.
package struct FileIdentities: Hashable, Sendable {
    private let identities: [Identity?]

    private struct Identity: Hashable {
        let device: UInt
        let number: UInt
    }

    /// Looks at each path; one that nothing is at, or that may not be looked at, has no identity.
    package init(of paths: [String]) {
        identities = paths.map { path in
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            return Identity(device: UInt(status.st_dev), number: UInt(status.st_ino))
        }
    }
}
