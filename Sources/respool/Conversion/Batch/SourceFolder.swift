import Glibc
import Lifecycle

/// The files in and below a folder, in the order of their paths, without hidden ones.
struct SourceFolder {
    /// A folder that is left out: the one of the results, if it is below this one.
    let excluded: String?

    /// The paths of the regular files, relative to the folder. Links to folders are not followed.
    func files(in folder: String) throws(CommandFailure) -> [String] {
        var files: [String] = []
        // Folders that are still to be read, the next one last.
        var open = [""]
        while let prefix = open.popLast() {
            var folders: [String] = []
            for name in try Self.names(in: folder + "/" + prefix) {
                let relative = prefix + name
                switch Self.kind(of: folder + "/" + relative) {
                case S_IFDIR where Self.realPath(of: folder + "/" + relative) != excluded:
                    folders.append(relative + "/")
                case S_IFREG: files.append(relative)
                default: break
                }
            }
            open += folders.reversed()
        }
        return files
    }

    /// The absolute path without symbolic links; `nil` if it does not exist.
    static func realPath(of path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The type of the entry, for a link to a file that of the file.
    private static func kind(of path: String) -> mode_t {
        var status = stat()
        guard lstat(path, &status) == 0 else { return 0 }
        guard status.st_mode & S_IFMT == S_IFLNK else { return status.st_mode & S_IFMT }
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? S_IFREG : 0
    }

    private static func names(in folder: String) throws(CommandFailure) -> [String] {
        guard let stream = opendir(folder) else {
            throw .failed("the folder '\(folder)' cannot be read: \(Errno.last)")
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}
