import CLinux
import Glibc
package import JobSchema
package import Lifecycle

/// The real path of what the descriptor refers to, symlinks resolved.
func realPath(of descriptor: borrowing Descriptor) throws(Errno) -> String {
    let number = descriptor.number
    return try withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) {
        (buffer) throws(Errno) -> String in
        let length = clinux_path_of(number, buffer.baseAddress, buffer.count)
        guard length >= 0 else { throw .last }
        return String(decoding: UnsafeRawBufferPointer(buffer)[..<length], as: UTF8.self)
    }
}

/// Whether the path is the folder or lies below it; both are real or both are normalised.
func isPath(_ path: String, inside folder: String) -> Bool {
    folder == "/" || path == folder || path.hasPrefix(folder + "/")
}

/// What `fstat` says.
func status(of descriptor: borrowing Descriptor) throws(Errno) -> stat {
    var status = stat()
    guard fstat(descriptor.number, &status) == 0 else { throw .last }
    return status
}

extension stat {
    var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
    var isSymlink: Bool { st_mode & S_IFMT == S_IFLNK }

    /// What a file keeps when it gets another name, and no other file of its file system has: a number alone is given again.
    var identity: String { "\(st_ino) \(st_mtim.tv_sec).\(st_mtim.tv_nsec)" }

    func isSameFile(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }
}

extension UnsafeMutablePointer<dirent> {
    /// The entry's name.
    var name: String {
        withUnsafePointer(to: &pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
    }
}

/// Writes all the bytes at the offset. The corresponding C function is `pwrite`.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: borrowing Descriptor, at offset: Int64) throws(Errno) {
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
    /// What a failed write means: no space, over the limit, or something else with the code given.
    package static func writing(_ subject: String, _ error: Errno, otherwise code: ErrorCode) -> Failure {
        switch error.rawValue {
        case ENOSPC, EDQUOT: Failure(.outOfSpace, "no space is left for \(subject): \(error)")
        case EFBIG: Failure(.tooLarge, "\(capitalized(subject)) is over the size limit")
        default: Failure(code, "\(capitalized(subject)) cannot be written: \(error)")
        }
    }
}

func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
