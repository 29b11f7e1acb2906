import CLinux
import Glibc
package import JobSchema
package import Lifecycle
package import SlotIPC

/// A source on this machine: a read-only descriptor whose bytes are all available.
package struct LocalSource: ~Copyable {
    /// The open file.
    package let file: Descriptor
    /// Bytes.
    package let length: Int64

    /// Opens the file if it is the granted one, or if it lies under a source root after symlinks are resolved.
    ///
    /// The path is resolved only once, with O_PATH. The file is opened through that descriptor (/proc/self/fd), so the file
    /// that was checked is the one that is read.
    package static func open(path: String, policy: TransferPolicy) throws(Failure) -> LocalSource {
        let located = clinux_locate(path)
        guard located >= 0 else { throw missing(path, policy, Errno.last) }
        let place = Descriptor(owning: located)
        guard let found = try? status(of: place), let real = try? realPath(of: place) else {
            throw outside(path, policy)
        }
        guard isGranted(found, policy) || isUnderRoot(real, policy) else { throw outside(path, policy) }
        try check(found, path, policy)
        let opened = clinux_reopen(place.number, O_RDONLY | O_NONBLOCK)
        guard opened >= 0 else { throw Failure(.sourceDenied, "the source '\(path)' cannot be read: \(Errno.last)") }
        return LocalSource(file: Descriptor(owning: opened), length: Int64(found.st_size))
    }

    /// Takes the open file that the parent process passed: a person named it on the command line.
    package static func adopt(
        _ file: consuming Descriptor, path: String, policy: TransferPolicy
    ) throws(Failure) -> LocalSource {
        guard let found = try? status(of: file) else {
            throw Failure(.internal, "the status of the passed source '\(path)' cannot be read")
        }
        try check(found, path, policy)
        return LocalSource(file: file, length: Int64(found.st_size))
    }

    private static func check(_ found: stat, _ path: String, _ policy: TransferPolicy) throws(Failure) {
        guard found.isRegular else {
            throw Failure(.policyDenied, "the source '\(path)' is not a regular file")
        }
        guard Int64(found.st_size) <= policy.maxSourceBytes else {
            throw Failure(
                .tooLarge,
                "the source '\(path)' has \(found.st_size) bytes, over the limit of \(policy.maxSourceBytes)")
        }
    }

    private static func isGranted(_ found: stat, _ policy: TransferPolicy) -> Bool {
        var granted = stat()
        guard let path = policy.grantedSource, stat(path, &granted) == 0 else { return false }
        return granted.isSameFile(as: found)
    }

    private static func isUnderRoot(_ real: String, _ policy: TransferPolicy) -> Bool {
        policy.sourceRoots.contains { root in
            realFolder(root).map { isPath(real, inside: $0) } ?? false
        }
    }

    /// Reports a file as missing only if the nearest existing folder is under a source root. Otherwise the message would reveal
    /// which files exist.
    private static func missing(_ path: String, _ policy: TransferPolicy, _ error: Errno) -> Failure {
        if path == policy.grantedSource { return absent(path, error) }
        var nearest = path[...]
        while let slash = nearest.lastIndex(of: "/") {
            var link = stat()
            // A dangling symlink exists, and its target must not be revealed.
            if lstat(String(nearest), &link) == 0, link.isSymlink { return outside(path, policy) }
            nearest = nearest[..<slash]
            guard let real = realFolder(nearest.isEmpty ? "/" : String(nearest)) else { continue }
            return isUnderRoot(real, policy) ? absent(path, error) : outside(path, policy)
        }
        return outside(path, policy)
    }

    private static func absent(_ path: String, _ error: Errno) -> Failure {
        switch error.rawValue {
        case ENOENT, ENOTDIR: Failure(.sourceNotFound, "the file '\(path)' does not exist")
        default: Failure(.sourceDenied, "the source '\(path)' cannot be read: \(error)")
        }
    }

    private static func outside(_ path: String, _ policy: TransferPolicy) -> Failure {
        guard !policy.sourceRoots.isEmpty else {
            return Failure(
                .policyDenied, "the source '\(path)' is a file, but no source root is set; set RESPOOL_SOURCE_ROOTS")
        }
        return Failure(
            .policyDenied, "the source '\(path)' is outside the source roots; see RESPOOL_SOURCE_ROOTS")
    }
}
