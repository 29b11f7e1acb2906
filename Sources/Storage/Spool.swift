import CLinux
import Glibc
package import JobSchema
import Lifecycle
package import SlotIPC

/// A file without a name that fills while it is read, and which of its bytes are there.
struct Spool: ~Copyable {
    private let file: Descriptor
    /// Which bytes are there.
    private(set) var present = ByteRanges()

    private init(owning file: consuming Descriptor) { self.file = file }

    /// A file of which so many bytes are there already.
    init(owning file: consuming Descriptor, length: Int64) {
        self.file = file
        if length > 0 { present.insert(0..<length) }
    }

    /// An empty spool in the folder, which nothing is left of once it is closed.
    static func create(in folder: String) throws(Failure) -> Spool {
        try Spool(owning: unnamedFile(in: folder, for: "the spool"))
    }

    /// Writes bytes that arrived; they must not overlap what is there.
    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        do { try writeAll(bytes, to: file, at: offset) } catch {
            throw .writing("the spool", error, otherwise: .internal)
        }
        present.insert(offset..<offset + Int64(bytes.count))
    }

    /// Gives the space of all bytes before the offset back to the disk; they are not read any more.
    func punch(before offset: Int64) { _ = clinux_punch_hole(file.number, 0, offset) }

    /// Bytes from the start up to the first that is missing.
    var length: Int64 { present.firstGap(from: 0) }

    /// Takes note on the disk that somebody asks for it. The corresponding C function is `futimens`.
    func touch() { _ = futimens(file.number, nil) }

    /// Writes the bytes to the disk; false if that fails. The corresponding C function is `fdatasync`.
    func synchronize() -> Bool { fdatasync(file.number) == 0 }

    /// Gives the file a name in an open folder of its own file system; false if that fails, or there is such a file.
    func link(_ name: String, in folder: borrowing Descriptor) -> Bool {
        clinux_link_unnamed_in(file.number, folder.number, name) == 0
    }

    /// A descriptor of its own, for reading only, that may be given away.
    func reader() throws(Failure) -> Descriptor {
        let copy = clinux_reopen(file.number, O_RDONLY)
        guard copy >= 0 else { throw Failure(.internal, "the spool cannot be opened for reading: \(Errno.last)") }
        return Descriptor(owning: copy)
    }
}

/// A file that has no name, or loses it at once where the file system cannot make one without.
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

/// A file without a name that another process is to write.
func sealableFile(in folder: String, for subject: String) throws(Failure) -> SealableFile {
    let file = try unnamedFile(in: folder, for: subject)
    do { return try SealableFile(owning: file) } catch { throw .opening(subject, in: folder, error) }
}

/// An unnamed file in the spool folder, to collect bytes in.
package func scratchFile(policy: TransferPolicy) throws(Failure) -> SealableFile {
    try sealableFile(in: policy.spoolFolder, for: "the spool")
}

/// A copy in the spool folder of a file that waits there.
package func spooledCopy(policy: TransferPolicy) throws(Failure) -> FileCopy {
    let file = try sealableFile(in: policy.spoolFolder, for: "the output")
    do { return try FileCopy(file) } catch { throw .opening("the output", in: policy.spoolFolder, error) }
}

extension Failure {
    fileprivate static func opening(_ subject: String, in folder: String, _ error: Errno) -> Failure {
        switch error.rawValue {
        case ENOSPC, EDQUOT: Failure(.outOfSpace, "no space is left for \(subject) in '\(folder)': \(error)")
        default:
            Failure(
                .internal, "\(capitalized(subject)) cannot be made in '\(folder)': \(error); set RESPOOL_SPOOL_DIR")
        }
    }
}
