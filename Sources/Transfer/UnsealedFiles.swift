import LocalFiles

/// Files that the transcoder may write to and that belong to no output: scratch files, and the files of discarded outputs.
final class UnsealedFiles {
    private var files: [SealableFile] = []

    var isEmpty: Bool { files.isEmpty }

    var count: Int { files.count }

    /// Bytes of all of them.
    var bytes: Int64 { files.reduce(0) { $0 + $1.length } }

    /// Adds a file that is no longer needed, if it can still be written to.
    func add(_ file: SealableFile) {
        if file.isHandedOut, !file.isSealed { files.append(file) }
    }

    /// Adds a discarded file and frees its disk space, because the file system may never report that it is closed.
    func discard(_ file: SealableFile) {
        if file.isHandedOut, !file.isSealed { file.empty() }
        add(file)
    }

    /// Removes the files that no process can write to any more, and frees their disk space even if they are open for reading.
    func release() {
        files.removeAll { file in
            guard file.seal() == .sealed else { return false }
            file.empty()
            return true
        }
    }

    /// Frees the disk space of all files.
    func empty() {
        for file in files { file.empty() }
    }

    /// Releases all files at the end; returns whether one can still be written to.
    func releaseAll() -> Bool {
        release()
        let isOpen = files.contains { $0.seal() == .open }
        empty()
        files = []
        return isOpen
    }

    /// Whether a process can still write to one of the files, as far as the file system reports it.
    var areOpen: Bool { files.contains { $0.seal() == .open } }
}
