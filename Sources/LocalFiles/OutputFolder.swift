import CLinux
import Glibc
package import JobSchema
import Lifecycle

extension Destination {
    /// Checks the existing part of the destination, so that an invalid one fails before any work is done. Creates nothing.
    package func check() throws(Failure) {
        guard let folder = try openExistingFolder() else { return }
        try checkEntry(in: folder)
    }

    /// Fails if the destination exists, so that no output is produced that may not be published.
    package func checkOverwrite() throws(Failure) {
        guard let folder = try openExistingFolder() else { return }
        try checkOverwrite(in: folder)
    }

    func checkOverwrite(in folder: borrowing Descriptor) throws(Failure) {
        var entry = stat()
        if fstatat(folder.number, name, &entry, AT_SYMLINK_NOFOLLOW) == 0 { throw exists }
    }

    /// The failure of an output that may not overwrite an existing file.
    var exists: Failure { .outputExists(path) }

    /// Opens the folder, and creates the missing part of its path. Every symlink in the path must lead below the root.
    ///
    /// Sets `made` to the number of path components to pass to `removeEmptyFolders`, which does not remove a folder that is
    /// open.
    func openOrCreateFolder(counting made: inout Int) throws(Failure) -> Descriptor {
        for _ in 0..<10 {
            // Another job may have just removed the folder that it had created. The missing part is then created again.
            guard let folder = try openFolder(creating: true, &made) else { continue }
            try checkEntry(in: folder)
            return folder
        }
        throw denied("its folder no longer exists")
    }

    /// Opens the folder, and creates the missing part of its path permanently.
    func openOrCreateFolder() throws(Failure) -> Descriptor {
        var made = 0
        return try openOrCreateFolder(counting: &made)
    }

    /// Opens the folder if it exists.
    func openExistingFolder() throws(Failure) -> Descriptor? {
        var made = 0
        return try openFolder(creating: false, &made)
    }

    private func openFolder(creating: Bool, _ made: inout Int) throws(Failure) -> Descriptor? {
        let opened = open(rootPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { throw denied("its folder '\(rootPath)' cannot be opened: \(Errno.last)") }
        var folder = Descriptor(owning: opened)
        let real = try realPathOfFolder(folder)
        for (depth, name) in folderNames.enumerated() {
            var isNew = false
            guard let next = try openChild(name, of: folder, creating: creating, &isNew) else { return nil }
            if isNew { made = max(made, folderNames.count - depth) }
            guard isPath(try realPathOfFolder(next), inside: real) else {
                throw denied("it is outside the output root")
            }
            if creating {
                // If the file system does not support locks, `removeEmptyFolder` does not remove folders either.
                clinux_share_lock(next.number)
                guard isChild(next, name, of: folder) else { return nil }
            }
            folder = next
        }
        return folder
    }

    private func openChild(
        _ name: String, of folder: borrowing Descriptor, creating: Bool, _ isNew: inout Bool
    ) throws(Failure) -> Descriptor? {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        var child = openat(folder.number, name, flags)
        if child < 0, errno == ENOENT {
            guard creating else { return nil }
            if mkdirat(folder.number, name, 0o777) == 0 {
                isNew = true
            } else if errno != EEXIST {
                throw writing(.last)
            }
            fsync(folder.number)
            child = openat(folder.number, name, flags)
            if child < 0, errno == ENOENT { return nil }
        }
        guard child >= 0 else { throw denied("the folder '\(name)' cannot be opened: \(Errno.last)") }
        return Descriptor(owning: child)
    }

    /// Whether the name still refers to the open folder.
    private func isChild(_ child: borrowing Descriptor, _ name: String, of folder: borrowing Descriptor) -> Bool {
        var named = stat()
        guard let held = try? status(of: child), fstatat(folder.number, name, &named, 0) == 0 else { return false }
        return named.isSameFile(as: held)
    }

    /// Removes the last `count` folders of the path, and stops at the first that is not empty or is open for an output.
    package func removeEmptyFolders(_ count: Int) {
        var names = folderNames
        for _ in 0..<count {
            guard let name = names.popLast() else { return }
            let location = Destination(rootPath: rootPath, folderNames: names, name: name)
            guard location.removeEmptyFolder() else { return }
        }
    }

    private func removeEmptyFolder() -> Bool {
        do {
            guard let parent = try openExistingFolder() else { return false }
            let opened = openat(parent.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard opened >= 0 else { return false }
            let folder = Descriptor(owning: opened)
            return clinux_lock(folder.number) == 0 && unlinkat(parent.number, name, AT_REMOVEDIR) == 0
        } catch { return false }
    }

    /// Only a regular file, or a symlink to one, may be replaced.
    private func checkEntry(in folder: borrowing Descriptor) throws(Failure) {
        var entry = stat()
        guard fstatat(folder.number, name, &entry, 0) == 0 else { return }
        if entry.isFolder { throw denied("it is a folder; add / at the end to put the output into it") }
        guard entry.isRegular else { throw denied("it is not a regular file; use - to write to a pipe") }
    }

    private func realPathOfFolder(_ folder: borrowing Descriptor) throws(Failure) -> String {
        do { return try realPath(of: folder) } catch { throw denied("its folder cannot be resolved: \(error)") }
    }

    func denied(_ reason: String) -> Failure { Failure(.outputDenied, "the output '\(path)' is denied: \(reason)") }

    /// The failure of a call on the folder or on a file in it.
    func writing(_ error: Errno) -> Failure {
        switch error.rawValue {
        case EACCES, EPERM, EROFS, ENAMETOOLONG, ENOTDIR, ELOOP: denied("\(error)")
        default: .writing("the output '\(path)'", error, otherwise: .outputFailed)
        }
    }
}

/// The folder's real path, if it exists.
func realFolder(_ path: String) -> String? {
    let located = clinux_locate(path)
    guard located >= 0 else { return nil }
    return try? realPath(of: Descriptor(owning: located))
}
