import CLinux
import Glibc
import Lifecycle

/// Removes the staged files that earlier processes left under a root.
package enum StagedFiles {
    /// Limits the work of one sweep, so that neither a huge archive nor a slow disk delays the start.
    private struct Budget {
        var entries = 100_000
        let end = ContinuousClock.now + .seconds(2)

        mutating func take() -> Bool {
            entries -= 1
            return entries >= 0 && (entries % 64 != 0 || ContinuousClock.now < end)
        }
    }

    /// Removes staged files that no process has locked. Safe while other processes stage and sweep.
    package static func sweep(_ root: String) {
        let opened = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { return }
        var budget = Budget()
        sweep(Descriptor(owning: opened), depth: 0, &budget)
    }

    private static func sweep(_ folder: consuming Descriptor, depth: Int, _ budget: inout Budget) {
        guard depth < 32, let stream = fdopendir(folder.release()) else { return }
        defer { closedir(stream) }
        while budget.take(), let entry = readdir(stream) {
            let name = entry.name
            let kind = CInt(entry.pointee.d_type)
            if name.hasPrefix(Destination.stagedPrefix), kind == DT_REG {
                removeIfStale(name, in: dirfd(stream))
            } else if kind == DT_DIR, name != ".", name != ".." {
                let child = openat(dirfd(stream), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                if child >= 0 { sweep(Descriptor(owning: child), depth: depth + 1, &budget) }
            }
        }
    }

    /// The main file's name for the staged name of a part; `nil` if the name is not a part's.
    private static func mainName(ofPart name: String) -> String? {
        let names = name.split(separator: "~", omittingEmptySubsequences: false)
        return names.count > 2 ? "\(names[0])~\(names[1])" : nil
    }

    static func exists(_ name: String, in folder: CInt) -> Bool {
        var found = stat()
        return fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0
    }

    private static func removeIfStale(_ name: String, in folder: CInt) {
        // Recovery needs both names to tell which of the files is the new one.
        guard !exists(Destination.keptName(name), in: folder) else { return }
        if let main = mainName(ofPart: name) {
            // The main file must be removed first, or recovery would treat the part as published. A lock on the main file also
            // protects its parts.
            removeIfStale(main, in: folder)
            guard !exists(main, in: folder) else { return }
        }
        let opened = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard opened >= 0 else { return }
        let file = Descriptor(owning: opened)
        guard clinux_lock(file.number) == 0 else { return }
        // The name may now refer to another file: the file was published, or one with the same token was created.
        var named = stat()
        guard let held = try? status(of: file), fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        if named.isSameFile(as: held) { unlinkat(folder, name, 0) }
    }
}
