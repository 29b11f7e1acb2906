import CLinux
import Glibc
package import Lifecycle

/// A file that another process writes: that one has the only descriptor which can, and this one reads.
///
/// Whether it can be written to any more, the kernel tells: it grants no read lease on a file that somebody has open for writing, or
/// mapped so. (F_SETLEASE of fcntl(2))
package final class SealableFile {
    private let reader: Descriptor
    /// Whether leases tell anything in this file system.
    private let hasLeases: Bool
    /// Whether somebody was given a descriptor to write by.
    package private(set) var isHandedOut = false
    /// Whether nobody can write to it any more.
    package private(set) var isSealed = false

    /// Whether somebody can write to the file.
    package enum Seal {
        case sealed, open
        /// The file system does not tell.
        case unknown
    }

    /// Takes over a file that nobody else has open, and keeps no descriptor to write by.
    init(owning file: consuming Descriptor) throws(Errno) {
        let opened = clinux_reopen(file.number, O_RDONLY)
        guard opened >= 0 else { throw .last }
        reader = Descriptor(owning: opened)
        _ = consume file
        // A server's leases are its own affair: what refuses one now would refuse it later as well.
        hasLeases = clinux_has_writer(opened) == 0
    }

    /// The descriptor for reading, borrowed.
    package var number: CInt { reader.number }

    /// Bytes of it at this moment.
    package var length: Int64 { Int64((try? status().st_size) ?? 0) }

    func status() throws(Errno) -> stat { try Storage.status(of: reader) }

    /// Takes the exclusive lock, if nobody has it.
    func lock() -> Bool { clinux_lock(reader.number) == 0 }

    /// A descriptor to write by, which is given away.
    package func writer() throws(Errno) -> Descriptor {
        let writer = try ownWriter()
        (isHandedOut, isSealed) = (true, false)
        return writer
    }

    /// A descriptor to write by, which is not given away.
    func ownWriter() throws(Errno) -> Descriptor {
        let opened = clinux_reopen(reader.number, O_RDWR)
        guard opened >= 0 else { throw .last }
        return Descriptor(owning: opened)
    }

    /// Finds out whether somebody can still write to it.
    package func seal() -> Seal {
        guard hasLeases else { return .unknown }
        switch clinux_has_writer(reader.number) {
        case 0:
            isSealed = true
            return .sealed
        case 1: return .open
        default: return .unknown
        }
    }

    /// Gives its space back to the disk, whoever may have it open.
    package func empty() {
        guard let writer = try? ownWriter() else { return }
        ftruncate(writer.number, 0)
    }
}
