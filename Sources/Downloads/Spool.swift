import CLinux
import Glibc
import JobSchema
import Lifecycle
import LocalFiles
import SlotIPC

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
