import Glibc

/// The identities of the files at some paths, following links, to detect that a file was replaced.
package struct FileIdentities: Hashable, Sendable {
    private let identities: [Identity?]

    private struct Identity: Hashable {
        let device: UInt
        let number: UInt
    }

    /// Reads the identity of each path; one that does not exist or is not accessible has none.
    /// `examining` is called with each path before.
    package init(of paths: [String], examining: (String) -> Void = { _ in }) {
        identities = paths.map { path in
            examining(path)
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            return Identity(device: UInt(status.st_dev), number: UInt(status.st_ino))
        }
    }
}
