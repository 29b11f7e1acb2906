import CLinux
import Glibc
import Lifecycle
package import SlotProtocol

extension Destination {
    /// Checks what exists of the destination, so that a bad one fails before any work is done; nothing is made.
    package func check() throws(Failure) {
        guard let folder = try openFolder(creating: false) else { return }
        try checkEntry(in: folder)
    }

    /// Opens the folder, making what is missing of it. Every symlink on the way must lead below the root.
    func openOrCreateFolder() throws(Failure) -> Descriptor {
        guard let folder = try openFolder(creating: true) else { throw denied("its folder vanished") }
        try checkEntry(in: folder)
        return folder
    }

    /// Opens the folder if it exists.
    func openExistingFolder() throws(Failure) -> Descriptor? { try openFolder(creating: false) }

    private func openFolder(creating: Bool) throws(Failure) -> Descriptor? {
        let opened = open(rootPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { throw denied("its folder '\(rootPath)' cannot be opened: \(Errno.last)") }
        var folder = Descriptor(owning: opened)
        let real = try realPathOfFolder(folder)
        for name in folderNames {
            guard let next = try openChild(name, of: folder, creating: creating) else { return nil }
            guard isPath(try realPathOfFolder(next), inside: real) else {
                throw denied("it leads outside the output root")
            }
            folder = next
        }
        return folder
    }

    private func openChild(_ name: String, of folder: borrowing Descriptor, creating: Bool) throws(Failure)
        -> Descriptor?
    {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        var child = openat(folder.number, name, flags)
        if child < 0, errno == ENOENT {
            guard creating else { return nil }
            guard mkdirat(folder.number, name, 0o777) == 0 || errno == EEXIST else { throw writing(.last) }
            fsync(folder.number)
            child = openat(folder.number, name, flags)
        }
        guard child >= 0 else { throw denied("the folder '\(name)' cannot be opened: \(Errno.last)") }
        return Descriptor(owning: child)
    }

    /// Only a regular file, or the symlink of one, may be replaced.
    private func checkEntry(in folder: borrowing Descriptor) throws(Failure) {
        var entry = stat()
        guard fstatat(folder.number, name, &entry, 0) == 0 else { return }
        if entry.isFolder { throw denied("it is a folder; end it with / to have the output put into it") }
        guard entry.isRegular else { throw denied("it is not a regular file; use - to write to a pipe") }
    }

    private func realPathOfFolder(_ folder: borrowing Descriptor) throws(Failure) -> String {
        do { return try realPath(of: folder) } catch { throw denied("its folder cannot be resolved: \(error)") }
    }

    func denied(_ reason: String) -> Failure { Failure(.outputDenied, "the output '\(path)' is denied: \(reason)") }

    /// What a failed call on the folder or a file in it means.
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
