import CLinux
import Glibc
package import JobSchema
import Lifecycle

/// An output that waits beside its destination: without a name while it is written, where the file system can do that, and
/// under a name that holds the token from when it is complete until it is published.
///
/// It takes the output's other files with it, its parts, which appear before it and go with it.
package struct StagedFile: ~Copyable {
    package private(set) var file: SealableFile
    let destination: Destination
    let folder: Descriptor
    let stagedName: String
    private var state: State
    /// The finished parts, in their order.
    var parts: [StagedPart] = []
    /// The names of copies that are not complete.
    var copyNames: Set<String> = []

    private enum State {
        case unnamed, named
        /// Under its destination; what was there before may be kept under a name of its own.
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
        // Where the main file's staged name is left, parts without theirs are taken for published.
        switch state {
        case .named: unlinkat(folder.number, stagedName, 0)
        case .published(keepsOld: true): unlinkat(folder.number, Destination.keptName(stagedName), 0)
        case .unnamed, .published: break
        }
        for part in parts where !part.isPublished { unlinkat(folder.number, part.stagedName, 0) }
        for name in copyNames { unlinkat(folder.number, name, 0) }
    }

    /// Makes the file of one of a job's outputs, and the destination's folder where it is missing, whose parts are counted.
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

    /// Makes the file under its staged name, for a file system that knows no files without one.
    static func createNamed(
        for destination: Destination, in folder: consuming Descriptor, _ name: String
    ) throws(Failure) -> StagedFile {
        let file = try openNamed(name, in: folder, destination)
        return StagedFile(file, folder: folder, destination: destination, stagedName: name, isNamed: true)
    }

    /// Absolute path that the output is to have.
    package func destinationPath() -> String { destination.path }

    /// Absolute path of the name that the file bears until it is renamed.
    package func stagedPath() -> String { destination.stagedPath(stagedName) }

    /// What the file is known by under any name, once it is written.
    package func identity() -> String? { try? file.status().identity }

    /// Writes the file to the disk. The corresponding C function is `fsync`.
    package func synchronize() throws(Failure) {
        guard fsync(file.number) == 0 else { throw destination.writing(.last) }
    }

    /// Gives the complete file its staged name, before anybody is asked whether it may be published.
    ///
    /// Whoever owns the job next removes that name first, so a process that was frozen after it got leave to publish finds
    /// nothing to rename when it thaws.
    package mutating func giveName() throws(Failure) {
        guard case .unnamed = state else { return }
        guard clinux_link_unnamed_in(file.number, folder.number, stagedName) == 0 else {
            throw destination.writing(.last)
        }
        state = .named
    }

    /// Has the copy in the file's place, under its name if it has one, and answers it.
    package mutating func replace(by copy: consuming FileCopy) throws(Failure) -> SealableFile {
        let isNamed = if case .named = state { true } else { false }
        if try take(copy, as: stagedName, isNamed: isNamed) { state = .named }
        file = copy.file
        return file
    }

    /// Makes the parts and then the named file visible, each in one step; fails where something is that may not be replaced.
    ///
    /// What the file replaces can be kept until the end, so that `withdraw` brings it back.
    package mutating func publish(keepingOld: Bool = false, replacing: Bool = true) throws(Failure) {
        if case .published = state { return }
        if !replacing { try destination.checkOverwrite(in: folder) }
        try publishParts(replacing: replacing)
        let kept = Destination.keptName(stagedName)
        let keepsOld = keepingOld && linkat(folder.number, destination.name, folder.number, kept, 0) == 0
        do throws(Failure) {
            try destination.take(stagedName, from: folder, into: folder, replacing: replacing)
        } catch {
            if keepsOld { unlinkat(folder.number, kept, 0) }
            throw error
        }
        state = .published(keepsOld: keepsOld)
        guard fsync(folder.number) == 0 else { throw destination.writing(.last) }
    }

    /// Takes back what was published, because another output of the job could not be.
    package mutating func rollback() {
        switch state {
        case .published:
            destination.rollback(in: folder, stagedName)
            state = .published(keepsOld: false)
        case .named:
            // First, for a part that is gone may not be taken for published once its name is another's.
            unlinkat(folder.number, stagedName, 0)
            state = .unnamed
        case .unnamed: break
        }
        rollbackParts()
        fsync(folder.number)
    }

    /// A file without a name, if the file system knows such; locked, which is for a sweeper the sign that somebody still owns
    /// it once it has one.
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

    /// A name that holds the token, so that two owners of a job never share one.
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

extension Destination {
    /// The file that was just made, for another process to write.
    func sealable(_ file: consuming Descriptor) throws(Failure) -> SealableFile {
        do { return try SealableFile(owning: file) } catch { throw writing(error) }
    }

    /// A copy in the file that was just made.
    func copy(_ file: SealableFile, name: String? = nil) throws(Failure) -> FileCopy {
        do { return try FileCopy(file, name: name) } catch { throw writing(error) }
    }

    func stagedPath(_ name: String) -> String { folder == "/" ? "/" + name : folder + "/" + name }

    /// Under which name a file waits that a staged one has replaced; no sweeper takes it, as it may have to come back.
    static func keptName(_ stagedName: String) -> String { keptPrefix + stagedName.dropFirst(stagedPrefix.count) }

    /// Gives the staged file its name in the open folder.
    func take(
        _ stagedName: String, from staging: borrowing Descriptor, into folder: borrowing Descriptor, replacing: Bool
    ) throws(Failure) {
        let result =
            replacing
            ? renameat(staging.number, stagedName, folder.number, name)
            : clinux_rename_unless_there(staging.number, stagedName, folder.number, name)
        guard result == 0 else { throw !replacing && errno == EEXIST ? exists : writing(.last) }
    }

    /// Removes the file, or brings back what it had replaced.
    func rollback(in folder: borrowing Descriptor, _ stagedName: String) {
        guard renameat(folder.number, Self.keptName(stagedName), folder.number, name) != 0 else { return }
        unlinkat(folder.number, name, 0)
    }
}
