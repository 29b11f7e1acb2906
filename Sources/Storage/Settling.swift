import Glibc
import Lifecycle
package import SlotProtocol

extension CommitRecord {
    /// Removes what an earlier owner left staged, or finds that every destination already holds its output.
    package func settle(policy: TransferPolicy) throws(Failure) -> Settlement {
        var isPublished = !outputs.isEmpty
        for output in outputs where try !output.settle(policy) { isPublished = false }
        return isPublished ? .published : .removed
    }
}

extension CommitRecord.Output {
    /// Whether the output is published; otherwise nothing staged is left of it.
    fileprivate func settle(_ policy: TransferPolicy) throws(Failure) -> Bool {
        // A place that this worker may not write to is not its to judge either: the job runs again.
        guard let destination = try? Destination(self.destination, defaultName: "", policy: policy),
            let folder = try? destination.openExistingFolder(), let name = stagedName(beside: destination)
        else { return false }
        if unlinkat(folder.number, name, 0) == 0 {
            fsync(folder.number)
            return false
        }
        guard errno == ENOENT else { throw destination.writing(.last) }
        return holdsOutput(destination, in: folder)
    }

    /// The staged name, if it is one of ours in the destination's own folder.
    private func stagedName(beside destination: Destination) -> String? {
        guard let slash = staged.lastIndex(of: "/") else { return nil }
        let name = String(staged[staged.index(after: slash)...])
        guard name.hasPrefix(Destination.stagedPrefix), destination.stagedPath(name) == staged else { return nil }
        return name
    }

    private func holdsOutput(_ destination: Destination, in folder: borrowing Descriptor) -> Bool {
        let opened = openat(folder.number, destination.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard opened >= 0 else { return false }
        let file = Descriptor(owning: opened)
        guard let found = try? status(of: file), found.isRegular, found.st_size == report.bytes else { return false }
        return (try? Digest.ofFile(file.number))?.sha256 == report.sha256
    }
}
