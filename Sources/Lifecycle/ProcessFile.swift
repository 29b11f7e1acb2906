import Glibc

/// What `/proc` says of processes.
package enum ProcessFile {
    /// The number of threads of a process; `nil` if it cannot be read (proc(5), `num_threads` in `/proc/PID/stat`).
    package static func threads(of pid: CInt) -> Int? {
        // The name of the program, before the last parenthesis, may have blanks.
        guard let text = text(of: "/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        let words = text[end...].split(separator: " ")
        return words.count > 18 ? Int(words[18]) : nil
    }

    /// The resident pages of memory; `nil` if they cannot be read.
    static var memoryPages: Int? {
        guard let words = text(of: "/proc/self/statm")?.split(separator: " ") else { return nil }
        return words.count > 1 ? Int(words[1]) : nil
    }

    /// The first bytes of the file, by default as many as a line of numbers has.
    static func text(of path: String, bytes: Int = 1024) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: bytes)
        var count = 0
        while count < bytes {
            let more = buffer.withUnsafeMutableBytes { read(file, $0.baseAddress! + count, bytes - count) }
            guard more > 0 else { break }
            count += more
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    /// The number of open descriptors, without that of the listing itself; `nil` if they cannot be listed.
    static var openDescriptors: Int? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = -1
        while let entry = readdir(folder) {
            // `.` and `..`
            if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
        }
        return count
    }
}
