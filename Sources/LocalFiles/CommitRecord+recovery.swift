import Crypto
import Glibc
package import JobSchema
import Lifecycle
package import SlotIPC

extension CommitRecord {
    /// Removes what an earlier owner of the lease left staged, or finds that every destination already holds its output. The
    /// record counts as published only if the other outputs of the job are published too.
    package func recover(policy: TransferPolicy, othersArePublished: Bool) throws(Failure) -> RecoveredCommit {
        if isAtomic { return try Self.recover(allOrNoneOf: outputs, policy, othersArePublished) }
        var published: [Output] = []
        for output in outputs where try output.recover(policy) { published.append(output) }
        if othersArePublished, published.count == outputs.count { return .published }
        // The job produces these outputs again. Without the rollback it would treat its own files as existing ones that it may
        // not overwrite.
        for output in published where output.overwrite != nil { try output.rollback(policy) }
        return .removed
    }

    /// Rolls back the published outputs, unless all of them are published.
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
    /// Returns whether the output is published. If it is not, its staged files are removed.
    fileprivate func recover(_ policy: TransferPolicy) throws(Failure) -> Bool {
        // If this worker may not write to the location, it cannot check it either, so the job runs again.
        guard let (destination, name) = location(policy), let folder = try? destination.openExistingFolder() else {
            return false
        }
        let staged = try removeStaged(name, of: destination, as: destination.name, in: folder)
        if staged != .alone, holdsOutput(destination.name, in: folder) {
            removeOld(name, in: folder)
            return true
        }
        unlinkat(folder.number, Destination.keptName(name), 0)
        removeParts(destination, name, in: folder, evenPublished: staged == .alone)
        fsync(folder.number)
        return false
    }

    /// Whether the destination holds the output, regardless of what exists under the staged name.
    fileprivate func isPublished(_ policy: TransferPolicy) -> Bool {
        guard let (destination, _) = location(policy), let folder = try? destination.openExistingFolder() else {
            return false
        }
        return holdsOutput(destination.name, in: folder)
    }

    /// Removes the files that the published output has replaced.
    fileprivate func removeOld(_ policy: TransferPolicy) {
        guard let (destination, name) = location(policy), let folder = try? destination.openExistingFolder() else {
            return
        }
        unlinkat(folder.number, name, 0)
        removeOld(name, in: folder)
    }

    private func removeOld(_ name: String, in folder: borrowing Descriptor) {
        unlinkat(folder.number, Destination.keptName(name), 0)
        for part in partNames {
            unlinkat(folder.number, Destination.keptName(StagedPart.stagedName(name, of: part)), 0)
        }
    }

    /// Removes the output, published or staged, and restores the file that it had replaced.
    fileprivate func rollback(_ policy: TransferPolicy) throws(Failure) {
        guard let (destination, name) = location(policy), let folder = try? destination.openExistingFolder() else {
            return
        }
        let staged = try removeStaged(name, of: destination, as: destination.name, in: folder)
        let wasPublished = staged != .alone && holdsOutput(destination.name, in: folder)
        if wasPublished { destination.restore(name, from: folder, into: folder) }
        unlinkat(folder.number, Destination.keptName(name), 0)
        removeParts(destination, name, in: folder, evenPublished: staged == .alone || wasPublished)
        fsync(folder.number)
    }

    private enum StagedName {
        case absent, alone
        /// The file also has its published name. If a rename is a link and an unlink, the owner was killed between the two.
        case linked
    }

    /// Removes a staged name, and returns whether the file was also published under its final name.
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

    /// The names of the parts, of which Redis may hold any number.
    private var partNames: some Sequence<String> {
        parts.lazy.flatMap { $0.names(atMost: 100_000) }.prefix(100_000)
    }

    /// Removes the staged parts. Also takes back published parts if they certainly belong to the earlier owner.
    private func removeParts(
        _ destination: Destination, _ stagedName: String, in folder: borrowing Descriptor, evenPublished: Bool
    ) {
        for name in partNames {
            let partName = StagedPart.stagedName(stagedName, of: name)
            let staged = try? removeStaged(partName, of: destination, as: name, in: folder)
            let kept = Destination.keptName(partName)
            if staged == .linked || staged == .absent && (evenPublished || StagedFiles.exists(kept, in: folder.number))
            {
                try? destination.part(name).restore(partName, from: folder)
            }
            unlinkat(folder.number, kept, 0)
        }
    }

    /// The destination and the staged name; `nil` unless the name has respool's prefix and is in the destination's folder.
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
