import Crypto
import Glibc
import JobSchema
import Lifecycle
import SlotIPC

extension CommitRecord {
    /// Removes what an earlier owner left staged, or finds that every destination already holds its output, if the others of the job
    /// are whole.
    func recover(policy: TransferPolicy, othersArePublished: Bool) throws(Failure) -> RecoveredCommit {
        if isAtomic { return try Self.recover(allOrNoneOf: outputs, policy, othersArePublished) }
        var published: [Output] = []
        for output in outputs where try output.recover(policy) { published.append(output) }
        if othersArePublished, published.count == outputs.count { return .published }
        // The job makes them again, and must not take its own for somebody else's, which it may not replace.
        for output in published where output.overwrite != nil { try output.rollback(policy) }
        return .removed
    }

    /// Takes back what is published already, unless all of it is.
    private static func recover(
        allOrNoneOf outputs: [Output], _ policy: TransferPolicy, _ othersArePublished: Bool
    ) throws(Failure) -> RecoveredCommit {
        let isPublished = othersArePublished && outputs.allSatisfy { $0.isPublished(policy) }
        for output in outputs {
            if isPublished { output.removeOld(policy) } else { try output.rollback(policy) }
        }
        return isPublished ? .published : .removed
    }
}

extension CommitRecord.Output {
    /// Whether the output is published; otherwise nothing staged is left of it.
    fileprivate func recover(_ policy: TransferPolicy) throws(Failure) -> Bool {
        // A location that this worker may not write to is not its to judge either: the job runs again.
        guard let (destination, name) = location(policy), let folder = try? destination.openExistingFolder() else {
            return false
        }
        let staged = try removeStaged(name, of: destination, as: destination.name, in: folder)
        if staged != .alone, holdsOutput(destination.name, in: folder) { return true }
        removeParts(destination, name, in: folder, evenPublished: staged == .alone)
        fsync(folder.number)
        return false
    }

    /// Whether the destination holds the output, whatever else may wait under the staged name.
    fileprivate func isPublished(_ policy: TransferPolicy) -> Bool {
        guard let (destination, _) = location(policy), let folder = try? destination.openExistingFolder() else {
            return false
        }
        return holdsOutput(destination.name, in: folder)
    }

    /// Removes what the published output has replaced.
    fileprivate func removeOld(_ policy: TransferPolicy) {
        guard let (destination, name) = location(policy), let folder = try? destination.openExistingFolder() else {
            return
        }
        unlinkat(folder.number, name, 0)
        unlinkat(folder.number, Destination.keptName(name), 0)
    }

    /// Removes the output, published or staged, and brings back what it had replaced.
    fileprivate func rollback(_ policy: TransferPolicy) throws(Failure) {
        guard let (destination, name) = location(policy), let folder = try? destination.openExistingFolder() else {
            return
        }
        let staged = try removeStaged(name, of: destination, as: destination.name, in: folder)
        let wasPublished = staged != .alone && holdsOutput(destination.name, in: folder)
        if wasPublished { destination.rollback(in: folder, name) }
        unlinkat(folder.number, Destination.keptName(name), 0)
        removeParts(destination, name, in: folder, evenPublished: staged == .alone || wasPublished)
        fsync(folder.number)
    }

    private enum StagedName {
        case absent, alone
        /// The file has its published name too: where a rename is a link and an unlink, its owner was killed between both.
        case linked
    }

    /// Removes a staged name, and answers whether the file was published under the other one.
    private func removeStaged(
        _ name: String, of destination: Destination, as published: String, in folder: borrowing Descriptor
    ) throws(Failure) -> StagedName {
        var (file, other) = (stat(), stat())
        fstatat(folder.number, name, &file, AT_SYMLINK_NOFOLLOW)
        guard unlinkat(folder.number, name, 0) == 0 else {
            guard errno == ENOENT else { throw destination.writing(.last) }
            return .absent
        }
        let isThere = fstatat(folder.number, published, &other, AT_SYMLINK_NOFOLLOW) == 0
        return isThere && other.isSameFile(as: file) ? .linked : .alone
    }

    /// Removes the parts that are staged, and where there is no doubt that they are the earlier owner's also those that are
    /// not any more.
    private func removeParts(
        _ destination: Destination, _ stagedName: String, in folder: borrowing Descriptor, evenPublished: Bool
    ) {
        let names = parts.lazy.flatMap { $0.names(atMost: 100_000) }.prefix(100_000)
        for name in names {
            let partName = StagedPart.stagedName(stagedName, of: name)
            let staged = try? removeStaged(partName, of: destination, as: name, in: folder)
            if staged == .linked || staged == .absent && evenPublished { try? destination.part(name).remove() }
        }
    }

    /// The destination, and the staged name if it is one of ours in the destination's own folder.
    private func location(_ policy: TransferPolicy) -> (Destination, String)? {
        guard let destination = try? Destination(self.destination, defaultName: "", policy: policy),
            let slash = staged.lastIndex(of: "/")
        else { return nil }
        let name = String(staged[staged.index(after: slash)...])
        guard name.hasPrefix(Destination.stagedPrefix), destination.stagedPath(name) == staged else { return nil }
        return (destination, name)
    }

    private func holdsOutput(_ name: String, in folder: borrowing Descriptor) -> Bool {
        let opened = openat(folder.number, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard opened >= 0 else { return false }
        let file = Descriptor(owning: opened)
        guard let found = try? status(of: file), found.isRegular, found.st_size == report.bytes else { return false }
        if let identity, found.identity != identity { return false }
        return (try? Digest.ofFile(file.number))?.sha256 == report.sha256
    }
}
