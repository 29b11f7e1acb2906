import CLinux
import Glibc
package import JobSchema
import Lifecycle
package import SlotIPC

/// An unnamed file that is filled while it is read, and the ranges of its bytes that are present.
struct Spool: ~Copyable {
    private let file: Descriptor
    /// The ranges of bytes that are present.
    private(set) var present = ByteRanges()

    private init(owning file: consuming Descriptor) { self.file = file }

    /// A file whose first `length` bytes are present.
    init(owning file: consuming Descriptor, length: Int64) {
        self.file = file
        if length > 0 { present.insert(0..<length) }
    }

    /// An empty spool in the folder. It disappears when it is closed.
    static func create(in folder: String) throws(Failure) -> Spool {
        try Spool(owning: unnamedFile(in: folder, for: "the spool"))
    }

    /// Writes received bytes, which must not overlap bytes that are present.
    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        do { try writeAll(bytes, to: file, at: offset) } catch {
            throw .writing("the spool", error, otherwise: .internal)
        }
        present.insert(offset..<offset + Int64(bytes.count))
    }

    /// Frees the disk space of all bytes before the offset, which are no longer read.
    func punch(before offset: Int64) { _ = clinux_punch_hole(file.number, 0, offset) }

    /// The number of contiguous bytes from the start.
    var length: Int64 { present.firstGap(from: 0) }

    /// Sets the file's times to now, to mark its use. The corresponding C function is `futimens`.
    func touch() { _ = futimens(file.number, nil) }

    /// Writes the bytes to the disk; false if that fails. The corresponding C function is `fdatasync`.
    func synchronize() -> Bool { fdatasync(file.number) == 0 }

    /// Gives the file a name in an open folder of the same file system; false if that fails or the name exists.
    func link(_ name: String, in folder: borrowing Descriptor) -> Bool {
        clinux_link_unnamed_in(file.number, folder.number, name) == 0
    }

    /// A separate, read-only descriptor that can be passed to another process.
    func reader() throws(Failure) -> Descriptor {
        let copy = clinux_reopen(file.number, O_RDONLY)
        guard copy >= 0 else { throw Failure(.internal, "the spool cannot be opened for reading: \(Errno.last)") }
        return Descriptor(owning: copy)
    }
}

/// An unnamed file, or one that is unlinked immediately if the file system does not support unnamed files.
func unnamedFile(in folder: String, for subject: String) throws(Failure) -> Descriptor {
    let unnamed = clinux_open_unnamed(folder, 0o600)
    if unnamed >= 0 { return Descriptor(owning: unnamed) }
    guard [EOPNOTSUPP, EISDIR, EINVAL].contains(errno) else { throw .opening(subject, in: folder, .last) }
    var template = Array("\(folder)/.respool-XXXXXX".utf8CString)
    let named = mkstemp(&template)
    guard named >= 0 else { throw .opening(subject, in: folder, .last) }
    unlink(template)
    return Descriptor(owning: named)
}

/// An unnamed file that another process will write.
func sealableFile(in folder: String, for subject: String) throws(Failure) -> SealableFile {
    let file = try unnamedFile(in: folder, for: subject)
    do { return try SealableFile(owning: file) } catch { throw .opening(subject, in: folder, error) }
}

/// An unnamed temporary file in the spool folder.
package func scratchFile(policy: TransferPolicy) throws(Failure) -> SealableFile {
    try sealableFile(in: policy.spoolFolder, for: "the spool")
}

/// A copy in the spool folder of a staged file that waits there.
package func spooledCopy(policy: TransferPolicy) throws(Failure) -> FileCopy {
    let file = try sealableFile(in: policy.spoolFolder, for: "the output")
    do { return try FileCopy(file) } catch { throw .opening("the output", in: policy.spoolFolder, error) }
}

extension Failure {
    fileprivate static func opening(_ subject: String, in folder: String, _ error: Errno) -> Failure {
        switch error.rawValue {
        case ENOSPC, EDQUOT: Failure(.outOfSpace, "no space left for \(subject) in '\(folder)': \(error)")
        default:
            Failure(
                .internal, "\(capitalized(subject)) cannot be created in '\(folder)': \(error); set RESPOOL_SPOOL_DIR")
        }
    }
}
