import CLinux
import Glibc
import Lifecycle
package import SlotProtocol

/// An output that waits beside its destination: without a name while it is written, where the file system can do that, and
/// under a name that holds the token from when it is complete until it is published.
package struct StagedFile: ~Copyable {
    private let file: Descriptor
    private let destination: Destination
    private let folder: Descriptor
    private let stagedName: String
    private var isNamed: Bool

    private init(
        owning file: consuming Descriptor, folder: consuming Descriptor, destination: Destination, stagedName: String,
        isNamed: Bool
    ) {
        self.file = file
        self.folder = folder
        self.destination = destination
        self.stagedName = stagedName
        self.isNamed = isNamed
    }

    deinit {
        if isNamed { unlinkat(folder.number, stagedName, 0) }
    }

    /// Makes the file, and the destination's folder where it is missing.
    package static func create(for destination: Destination, job: String, token: String) throws(Failure) -> StagedFile {
        let folder = try destination.openOrCreateFolder()
        let name = stagedName(job: job, token: token)
        let unnamed = clinux_open_unnamed_in(folder.number, 0o644)
        if unnamed >= 0 {
            // A sweeper takes the lock for the sign that somebody still owns the file once it has a name.
            clinux_lock(unnamed)
            return StagedFile(
                owning: Descriptor(owning: unnamed), folder: folder, destination: destination, stagedName: name,
                isNamed: false)
        }
        guard [EOPNOTSUPP, EISDIR, EINVAL].contains(errno) else { throw destination.writing(.last) }
        return try createNamed(for: destination, in: folder, name)
    }

    /// Makes the file under its staged name, for a file system that knows no files without one.
    static func createNamed(
        for destination: Destination, in folder: consuming Descriptor, _ name: String
    ) throws(Failure) -> StagedFile {
        let file = try openNamed(name, in: folder, destination)
        return StagedFile(owning: file, folder: folder, destination: destination, stagedName: name, isNamed: true)
    }

    /// The file's descriptor for reading and writing, borrowed.
    package var number: CInt { file.number }

    /// Absolute path that the output is to have.
    package func destinationPath() -> String { destination.path }

    /// Absolute path of the name that the file bears until it is renamed.
    package func stagedPath() -> String { destination.stagedPath(stagedName) }

    /// Writes the file to the disk. The corresponding C function is `fsync`.
    package func synchronize() throws(Failure) {
        guard fsync(file.number) == 0 else { throw destination.writing(.last) }
    }

    /// Gives the complete file its staged name, before anybody is asked whether it may be published.
    ///
    /// Whoever owns the job next removes that name first, so a process that was frozen after it got leave to publish finds
    /// nothing to rename when it thaws.
    package mutating func giveName() throws(Failure) {
        guard !isNamed else { return }
        guard clinux_link_unnamed_in(file.number, folder.number, stagedName) == 0 else {
            throw destination.writing(.last)
        }
        isNamed = true
    }

    /// Makes the named file visible under its destination in one step, whatever was there before.
    package mutating func publish() throws(Failure) {
        guard renameat(folder.number, stagedName, folder.number, destination.name) == 0 else {
            throw destination.writing(.last)
        }
        isNamed = false
        guard fsync(folder.number) == 0 else { throw destination.writing(.last) }
    }

    private static func openNamed(
        _ name: String, in folder: borrowing Descriptor, _ destination: Destination
    ) throws(Failure) -> Descriptor {
        while true {
            let opened = openat(folder.number, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            guard opened >= 0 else { throw destination.writing(.last) }
            let file = Descriptor(owning: opened)
            // Between the two calls a sweeper may have found the file unlocked and removed it.
            if clinux_lock(file.number) == 0, let found = try? status(of: file), found.st_nlink > 0 { return file }
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
    func stagedPath(_ name: String) -> String { folder == "/" ? "/" + name : folder + "/" + name }
}
