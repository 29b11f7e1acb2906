import CLinux
import Glibc
package import JobSchema
import Lifecycle

/// An output staged in the folder of its destination. While it is written, it is unnamed if the file system supports that. From
/// its completion until its publication, it has a staged name that contains the fencing token.
///
/// It owns the output's other files, the parts. They are published before it, and removed with it.
package struct StagedFile: ~Copyable {
    /// The main file, which the transcoder writes.
    package private(set) var file: SealableFile
    let destination: Destination
    let folder: Descriptor
    let stagedName: String
    private var state: State
    /// The finished parts, in order.
    var parts: [StagedPart] = []
    /// The names of incomplete copies.
    var copyNames: Set<String> = []
    private let writeBack = WriteBack()
    private var flush: FileFlush?

    private enum State {
        case unnamed, named
        /// The file has its final name. The file that it replaced may be kept under another name.
        case published(keepsOld: Bool)
    }

    private init(
        _ file: SealableFile, folder: consuming Descriptor, destination: Destination, stagedName: String, isNamed: Bool
    ) {
        self.file = file
        self.folder = folder
        self.destination = destination
        self.stagedName = stagedName
        state = isNamed ? .named : .unnamed
    }

    deinit {
        // The main file's staged name must go first: recovery treats parts without a staged name as published.
        if case .named = state { unlinkat(folder.number, stagedName, 0) }
        for part in parts where !part.isPublished { unlinkat(folder.number, part.stagedName, 0) }
        unlinkOld()
        for name in copyNames { unlinkat(folder.number, name, 0) }
    }

    /// Creates the file of one of a job's outputs, and the destination's folder if it is missing. `made` counts the created
    /// folders.
    package static func create(
        for destination: Destination, job: String, token: String, output: Int, countingFolders made: inout Int
    ) throws(Failure) -> StagedFile {
        let folder = try destination.openOrCreateFolder(counting: &made)
        let name = "\(stagedName(job: job, token: token))~\(output)"
        guard let file = try createUnnamed(for: destination, in: folder) else {
            return try createNamed(for: destination, in: folder, name)
        }
        return StagedFile(file, folder: folder, destination: destination, stagedName: name, isNamed: false)
    }

    /// Creates the file under its staged name, for a file system that does not support unnamed files.
    static func createNamed(
        for destination: Destination, in folder: consuming Descriptor, _ name: String
    ) throws(Failure) -> StagedFile {
        let file = try openNamed(name, in: folder, destination)
        return StagedFile(file, folder: folder, destination: destination, stagedName: name, isNamed: true)
    }

    /// Absolute path of the destination.
    package func destinationPath() -> String { destination.path }

    /// Absolute path of the staged name.
    package func stagedPath() -> String { destination.stagedPath(stagedName) }

    /// The identity of the file across renames, once it is written.
    package func identity() -> String? { try? file.status().identity }

    /// Starts to write the file to the disk while another process writes it.
    package func startWriteBack() { writeBack.advance(file) }

    /// Starts to flush the complete file to the disk.
    package mutating func startFlush() { flush = FileFlush(file) }

    /// Flushes the complete file to the disk. The corresponding C function is `fsync`.
    package func synchronize() throws(Failure) {
        if let flush {
            do { return try flush.wait() } catch { throw destination.writing(error) }
        }
        guard fsync(file.number) == 0 else { throw destination.writing(.last) }
    }

    /// Gives the complete file its staged name, before the permission to publish is requested.
    ///
    /// The next owner of the lease removes that name first. If a process is suspended after it was permitted to publish, the
    /// rename fails when it resumes.
    package mutating func giveName() throws(Failure) {
        guard case .unnamed = state else { return }
        guard clinux_link_unnamed_in(file.number, folder.number, stagedName) == 0 else {
            throw destination.writing(.last)
        }
        state = .named
    }

    /// Replaces the file by the copy, which takes over its staged name if there is one, and returns the copy.
    package mutating func replace(by copy: consuming FileCopy) throws(Failure) -> SealableFile {
        let isNamed = if case .named = state { true } else { false }
        if try take(copy, as: stagedName, isNamed: isNamed) { state = .named }
        flush = nil
        file = copy.file
        return file
    }

    /// Makes the parts and then the main file visible, each atomically. Fails if a file exists that may not be replaced.
    ///
    /// If `keeping` is set, the replaced files are kept, so that `rollback` can restore them.
    package mutating func publish(keeping: KeptFiles = .none, replacing: Bool = true) throws(Failure) {
        if case .published = state { return }
        if !replacing { try destination.checkOverwrite(in: folder) }
        try publishParts(keeping: keeping, replacing: replacing)
        let keepsOld = try destination.take(
            stagedName, from: folder, into: folder, keeping: keeping, replacing: replacing)
        state = .published(keepsOld: keepsOld)
        guard fsync(folder.number) == 0 else { throw destination.writing(.last) }
        // Nothing that could revert this publication can happen any more.
        if keeping == .ifPossible {
            unlinkOld()
            state = .published(keepsOld: false)
            for index in parts.indices { parts[index].keepsOld = false }
        }
    }

    /// Checks, before any output is visible, that the publication may replace what there is, and can restore it.
    package func checkPublication(replacing: Bool) throws(Failure) {
        if !replacing { try destination.checkOverwrite(in: folder) }
        try destination.checkKeeping(stagedName, from: folder, into: folder, replacing: replacing)
        for staged in parts {
            let part = try destination.part(staged.name)
            if part.folder == destination.folder {
                try part.checkKeeping(staged.stagedName, from: folder, into: folder, replacing: replacing)
            } else if let other = try part.openExistingFolder() {
                try part.checkKeeping(staged.stagedName, from: folder, into: other, replacing: replacing)
            }
        }
    }

    /// Removes the files that the published ones have replaced.
    private func unlinkOld() {
        if case .published(keepsOld: true) = state {
            unlinkat(folder.number, Destination.keptName(stagedName), 0)
        }
        for part in parts where part.keepsOld {
            unlinkat(folder.number, Destination.keptName(part.stagedName), 0)
        }
    }

    /// Reverts the publication, because another output of the job could not be published.
    package mutating func rollback() {
        switch state {
        case .published:
            destination.restore(stagedName, from: folder, into: folder)
            state = .published(keepsOld: false)
        case .named:
            // The staged name goes first: recovery could otherwise take a removed part for a published one, once another file
            // has the part's name.
            unlinkat(folder.number, stagedName, 0)
            state = .unnamed
        case .unnamed: break
        }
        rollbackParts()
        fsync(folder.number)
    }

    /// An unnamed file, if the file system supports that. It is locked: the lock shows a sweeper that the file still has an
    /// owner once it is named.
    static func createUnnamed(
        for destination: Destination, in folder: borrowing Descriptor
    ) throws(Failure) -> SealableFile? {
        let unnamed = clinux_open_unnamed_in(folder.number, 0o644)
        if unnamed >= 0 {
            let file = try destination.sealable(Descriptor(owning: unnamed))
            _ = file.lock()
            return file
        }
        guard [EOPNOTSUPP, EISDIR, EINVAL].contains(errno) else { throw destination.writing(.last) }
        return nil
    }

    static func openNamed(
        _ name: String, in folder: borrowing Descriptor, _ destination: Destination
    ) throws(Failure) -> SealableFile {
        while true {
            let opened = openat(folder.number, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            guard opened >= 0 else { throw destination.writing(.last) }
            let file = try destination.sealable(Descriptor(owning: opened))
            // Between the two calls a sweeper may have found the file unlocked and removed it.
            if file.lock(), let found = try? file.status(), found.st_nlink > 0 { return file }
        }
    }

    /// A name that contains the fencing token, so that two owners of a job never share one.
    static func stagedName(job: String, token: String) -> String {
        func safe(_ text: String, _ length: Int) -> String {
            String(text.unicodeScalars.prefix(length).map { isPlain($0) ? Character($0) : "_" })
        }
        return "\(Destination.stagedPrefix)\(safe(job, 80))-\(safe(token, 120))"
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII
            && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "-_.".unicodeScalars.contains(scalar))
    }
}

/// Whether the files that a publication replaces are kept until nothing can revert it.
package enum KeptFiles: Sendable {
    case none
    /// They are replaced even if they cannot be kept.
    case ifPossible
    /// The publication fails if they cannot be kept.
    case all
}

extension Destination {
    /// Wraps a newly created file that another process will write.
    func sealable(_ file: consuming Descriptor) throws(Failure) -> SealableFile {
        do { return try SealableFile(owning: file) } catch { throw writing(error) }
    }

    /// Wraps a newly created file that receives a copy.
    func copy(_ file: SealableFile, name: String? = nil) throws(Failure) -> FileCopy {
        do { return try FileCopy(file, name: name) } catch { throw writing(error) }
    }

    func stagedPath(_ name: String) -> String { folder == "/" ? "/" + name : folder + "/" + name }

    /// The name of a replaced file. A sweeper does not remove it, because a rollback may restore it.
    static func keptName(_ stagedName: String) -> String { keptPrefix + stagedName.dropFirst(stagedPrefix.count) }

    /// Renames the staged file to its final name in the open folder. Returns whether it replaced a file that is kept in the folder
    /// of the staged one.
    func take(
        _ stagedName: String, from staging: borrowing Descriptor, into folder: borrowing Descriptor, keeping: KeptFiles,
        replacing: Bool
    ) throws(Failure) -> Bool {
        if keeping != .none, replacing, holdsFile(in: folder) {
            do throws(Failure) {
                try exchange(stagedName, from: staging, into: folder)
                return true
            } catch  where keeping == .ifPossible {}
        }
        let result =
            replacing
            ? renameat(staging.number, stagedName, folder.number, name)
            : clinux_rename_unless_there(staging.number, stagedName, folder.number, name)
        guard result == 0 else { throw !replacing && errno == EEXIST ? exists : writing(.last) }
        return false
    }

    /// Renames the staged file to its final name, and the file of that name to its kept one. Behind each step, the names tell a
    /// recovery which file is which.
    private func exchange(
        _ stagedName: String, from staging: borrowing Descriptor, into folder: borrowing Descriptor
    ) throws(Failure) {
        let kept = Self.keptName(stagedName)
        // A link to the old file instead is denied if another user owns it (proc_sys_fs(5), protected_hardlinks).
        guard linkat(staging.number, stagedName, staging.number, kept, 0) == 0 else { throw notKept(.last) }
        guard clinux_exchange(staging.number, kept, folder.number, name) != 0 else {
            unlinkat(staging.number, stagedName, 0)
            return
        }
        let error = Errno.last
        unlinkat(staging.number, kept, 0)
        // Not every file system can exchange names.
        guard error.rawValue == EINVAL else { throw writing(error) }
        guard linkat(folder.number, name, staging.number, kept, 0) == 0 else { throw notKept(.last) }
        guard renameat(staging.number, stagedName, folder.number, name) != 0 else { return }
        let denial = writing(.last)
        unlinkat(staging.number, kept, 0)
        throw denial
    }

    private func holdsFile(in folder: borrowing Descriptor) -> Bool {
        var old = stat()
        return fstatat(folder.number, name, &old, AT_SYMLINK_NOFOLLOW) == 0 && !old.isFolder
    }

    /// Fails if the open folder has a file of the name that may not be replaced, or that could not be kept then.
    func checkKeeping(
        _ stagedName: String, from staging: borrowing Descriptor, into folder: borrowing Descriptor, replacing: Bool
    ) throws(Failure) {
        guard holdsFile(in: folder) else { return }
        guard replacing else { throw exists }
        let kept = Self.keptName(stagedName)
        guard linkat(folder.number, name, staging.number, kept, 0) != 0 else {
            unlinkat(staging.number, kept, 0)
            return
        }
        let denial = Errno.last
        // What cannot be linked may still be exchanged, which two other files show.
        let empty = openat(staging.number, kept, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard empty >= 0 else { throw notKept(.last) }
        close(empty)
        defer { unlinkat(staging.number, kept, 0) }
        guard clinux_exchange(staging.number, kept, staging.number, stagedName) == 0 else { throw notKept(denial) }
        guard clinux_exchange(staging.number, kept, staging.number, stagedName) == 0 else { throw writing(.last) }
    }

    private func notKept(_ error: Errno) -> Failure {
        denied("the file that it replaces cannot be kept until all outputs are published (\(error)): leave out atomic")
    }

    /// Restores the file that the published one had replaced, or removes the published one if there is none.
    func restore(_ stagedName: String, from staging: borrowing Descriptor, into folder: borrowing Descriptor) {
        guard renameat(staging.number, Self.keptName(stagedName), folder.number, name) != 0 else { return }
        unlinkat(folder.number, name, 0)
    }
}
