import Glibc

/// What `/proc/self` says of this process.
enum ProcessFile {
    /// The resident pages of memory; `nil` if they cannot be read.
    static var memoryPages: Int? {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 128)
        let count = read(file, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let words = String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ")
        return words.count > 1 ? Int(words[1]) : nil
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
