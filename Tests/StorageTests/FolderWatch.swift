import Glibc

/// What is removed of a folder from now on, in its order.
struct FolderWatch: ~Copyable {
    private let descriptor: CInt

    init(_ path: String) {
        descriptor = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
        inotify_add_watch(descriptor, path, UInt32(IN_DELETE))
    }

    deinit { close(descriptor) }

    /// The names of the removed entries; once.
    func removed() -> [String] {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(descriptor, &buffer, buffer.count)
        var (names, offset) = ([String](), 0)
        while offset < count {
            // inotify(7): 16 bytes of an event, of which the last four tell how many of a name follow.
            let length = buffer[offset + 12..<offset + 16].reversed().reduce(0) { $0 << 8 | Int($1) }
            names.append(String(decoding: buffer[offset + 16..<offset + 16 + length].prefix { $0 != 0 }, as: UTF8.self))
            offset += 16 + length
        }
        return names
    }
}
