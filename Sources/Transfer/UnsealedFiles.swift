import Storage

/// Files that the other child may write to and that no output has: scratch files, and those of outputs that were given up.
final class ReleasedFiles {
    private var files: [SealableFile] = []

    var isEmpty: Bool { files.isEmpty }

    var count: Int { files.count }

    /// Bytes of all of them.
    var bytes: Int64 { files.reduce(0) { $0 + $1.length } }

    /// Takes a file that nobody else needs any more, if it can be written to.
    func add(_ file: SealableFile) {
        if file.isHandedOut, !file.isSealed { files.append(file) }
    }

    /// Takes a file that was given up: nobody needs its bytes, of which it may never be told that nobody can write to them.
    func discard(_ file: SealableFile) {
        if file.isHandedOut, !file.isSealed { file.empty() }
        add(file)
    }

    /// Lets go of those that nobody can write to any more, and of their bytes, which somebody may have open all the same.
    func release() {
        files.removeAll { file in
            guard file.seal() == .sealed else { return false }
            file.empty()
            return true
        }
    }

    /// Gives the space of all of them back to the disk.
    func empty() {
        for file in files { file.empty() }
    }

    /// Lets go of all of them at the end, and answers whether one can still be written to.
    func releaseAll() -> Bool {
        release()
        let isOpen = files.contains { $0.seal() == .open }
        empty()
        files = []
        return isOpen
    }

    /// Whether one of them can still be written to, as far as that can be told.
    var areOpen: Bool { files.contains { $0.seal() == .open } }
}
