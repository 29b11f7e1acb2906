import CLinux
import Glibc
package import Lifecycle

/// A file that another process writes with the only writable descriptor, and this process reads.
///
/// The kernel shows whether the file can still be written to: it refuses a read lease on a file that is open or mapped for
/// writing (F_SETLEASE of fcntl(2)).
package final class SealableFile {
    private let reader: Descriptor
    private let leases: Leases
    /// Whether a writable descriptor has been handed out.
    package private(set) var isHandedOut = false
    /// Whether no process can write to the file any more.
    package private(set) var isSealed = false

    /// What leases of this file system show.
    private enum Leases {
        case nothing, openFiles, openAndMappedFiles
    }

    /// Whether a process can write to the file.
    package enum Seal {
        case sealed, open
        /// The file system's leases do not show each writer.
        case unknown
    }

    /// Takes over a file that no other process has open, and keeps no writable descriptor.
    init(owning file: consuming Descriptor) throws(Errno) {
        let opened = clinux_reopen(file.number, O_RDONLY)
        guard opened >= 0 else { throw .last }
        reader = Descriptor(owning: opened)
        // An overlay, such as a container's own file system, grants a lease on a file that is mapped for writing.
        let mapping = mmap(nil, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
        _ = consume file
        let showsMapping = mapping != MAP_FAILED && clinux_has_writer(opened) == 1
        if mapping != MAP_FAILED { munmap(mapping, 1) }
        // A network file system may refuse leases. If it refuses one now, it would also refuse one later.
        let showsNothing = clinux_has_writer(opened) != 0
        leases = showsNothing ? .nothing : showsMapping ? .openAndMappedFiles : .openFiles
    }

    /// The read-only descriptor, borrowed.
    package var number: CInt { reader.number }

    /// Current length in bytes.
    package var length: Int64 { Int64((try? status().st_size) ?? 0) }

    func status() throws(Errno) -> stat { try LocalFiles.status(of: reader) }

    /// Takes the exclusive lock, if it is free.
    func lock() -> Bool { clinux_lock(reader.number) == 0 }

    /// A writable descriptor to hand out to another process.
    package func writer() throws(Errno) -> Descriptor {
        let writer = try ownWriter()
        (isHandedOut, isSealed) = (true, false)
        return writer
    }

    /// Another read-only descriptor, to hand out to another process.
    package func anotherReader() throws(Errno) -> Descriptor {
        let opened = clinux_reopen(reader.number, O_RDONLY)
        guard opened >= 0 else { throw .last }
        return Descriptor(owning: opened)
    }

    /// A writable descriptor for this process.
    func ownWriter() throws(Errno) -> Descriptor {
        let opened = clinux_reopen(reader.number, O_RDWR)
        guard opened >= 0 else { throw .last }
        return Descriptor(owning: opened)
    }

    /// Whether the file system shows each process that can write to the file.
    package var showsWriters: Bool { leases == .openAndMappedFiles }

    /// Checks whether a process can still write to the file.
    package func seal() -> Seal {
        guard leases != .nothing else { return .unknown }
        switch clinux_has_writer(reader.number) {
        case 0 where leases == .openAndMappedFiles:
            isSealed = true
            return .sealed
        case 1: return .open
        default: return .unknown
        }
    }

    /// Frees the disk space of the file, even if other processes have it open.
    package func empty() {
        guard let writer = try? ownWriter() else { return }
        ftruncate(writer.number, 0)
    }
}
