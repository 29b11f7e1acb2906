import CLinux
package import Glibc
package import JobSchema
package import Lifecycle

/// The real path of the descriptor's file, with symlinks resolved.
func realPath(of descriptor: borrowing Descriptor) throws(Errno) -> String {
    let number = descriptor.number
    return try withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) {
        (buffer) throws(Errno) -> String in
        let length = clinux_path_of(number, buffer.baseAddress, buffer.count)
        guard length >= 0 else { throw .last }
        return String(decoding: UnsafeRawBufferPointer(buffer)[..<length], as: UTF8.self)
    }
}

/// Whether the path is the folder or lies below it. Both paths must be real, or both normalized.
func isPath(_ path: String, inside folder: String) -> Bool {
    folder == "/" || path == folder || path.hasPrefix(folder + "/")
}

/// The status of the descriptor's file. The corresponding C function is `fstat`.
package func status(of descriptor: borrowing Descriptor) throws(Errno) -> stat {
    var status = stat()
    guard fstat(descriptor.number, &status) == 0 else { throw .last }
    return status
}

extension stat {
    /// Whether it is a regular file.
    package var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
    var isSymlink: Bool { st_mode & S_IFMT == S_IFLNK }

    /// Identifies a file across renames. The modification time is included because inode numbers are reused.
    var identity: String { "\(st_ino) \(st_mtim.tv_sec).\(st_mtim.tv_nsec)" }

    func isSameFile(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }
}

extension UnsafeMutablePointer<dirent> {
    /// The entry's name.
    package var name: String {
        withUnsafePointer(to: &pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
    }
}

/// Writes all the bytes at the offset. The corresponding C function is `pwrite`.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: borrowing Descriptor, at offset: Int64)
    throws(Errno)
{
    var done = 0
    while done < bytes.count {
        let count = pwrite(
            descriptor.number, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + off_t(done))
        if count < 0 {
            guard errno == EINTR else { throw .last }
        } else {
            done += count
        }
    }
}

extension Failure {
    /// The failure of a write: no space, over the size limit, or another cause with the given code.
    package static func writing(_ subject: String, _ error: Errno, otherwise code: ErrorCode) -> Failure {
        switch error.rawValue {
        case ENOSPC, EDQUOT: Failure(.outOfSpace, "no space left for \(subject): \(error)")
        case EFBIG: Failure(.tooLarge, "\(capitalized(subject)) exceeds the size limit")
        default: Failure(code, "\(capitalized(subject)) cannot be written: \(error)")
        }
    }
}

func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
