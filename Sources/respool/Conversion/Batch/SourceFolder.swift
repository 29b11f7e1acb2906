import Glibc
import JobSchema
import Lifecycle

/// The files in and below a folder, in the order of their paths, without hidden ones.
struct SourceFolder {
    /// The paths of the regular files, relative to the folder. Links to folders are not followed.
    private(set) var files: [String] = []
    /// What cannot be read, with its relative path.
    private(set) var failures: [(path: String, failure: Failure)] = []

    private struct Entry {
        let name: String
        let isUTF8: Bool
        let kind: mode_t
    }

    /// Reads the folder. The excluded one, where the results are, is left out if it is below.
    init(_ folder: String, excluded: FileIdentity?) {
        // Folders that are still to be read, the next one last.
        var open = [""]
        while let prefix = open.popLast() {
            var folders: [String] = []
            for entry in entries(in: folder, prefix) {
                let relative = prefix + entry.name
                switch entry.kind {
                case S_IFDIR where !entry.isUTF8, S_IFREG where !entry.isUTF8:
                    let failure = Failure(
                        .invalidRequest, "the name of '\(relative)' is not UTF-8, which is not supported: rename it")
                    failures.append((relative, failure))
                case S_IFDIR:
                    let identity = FileIdentity(folder + "/" + relative)
                    if identity == nil || identity != excluded { folders.append(relative + "/") }
                case S_IFREG: files.append(relative)
                default: break
                }
            }
            open += folders.reversed()
        }
    }

    private mutating func entries(in folder: String, _ prefix: String) -> [Entry] {
        guard let stream = opendir(folder + "/" + prefix) else {
            fail(prefix, folder, Errno.last)
            return []
        }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                let error = Errno.last
                if error.rawValue != 0 { fail(prefix, folder, error) }
                break
            }
            withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    guard name[0] != CChar(UInt8(ascii: ".")) else { return }
                    let valid = String(validatingCString: name)
                    entries.append(
                        Entry(
                            name: valid ?? String(cString: name), isUTF8: valid != nil,
                            kind: Self.kind(of: name, in: dirfd(stream))))
                }
            }
        }
        return entries.sorted { $0.name < $1.name }
    }

    private mutating func fail(_ prefix: String, _ folder: String, _ error: Errno) {
        let failure = Failure(.sourceDenied, "the folder '\(folder)/\(prefix)' cannot be read: \(error)")
        failures.append((prefix, failure))
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The type of the entry, for a link to a file that of the file.
    private static func kind(of name: UnsafePointer<CChar>, in folder: CInt) -> mode_t {
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return 0 }
        guard status.st_mode & S_IFMT == S_IFLNK else { return status.st_mode & S_IFMT }
        return fstatat(folder, name, &status, 0) == 0 && status.st_mode & S_IFMT == S_IFREG ? S_IFREG : 0
    }
}
