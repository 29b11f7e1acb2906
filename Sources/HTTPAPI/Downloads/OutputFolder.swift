import Glibc
import JobSchema
import Lifecycle

/// The folder whose files can be downloaded: the output root of the workers.
package struct OutputFolder: Sendable {
    /// The folder's absolute path, as workers have it, and with symlinks resolved.
    private let paths: [String]
    private let verifier = OutputVerifier()

    /// `nil` if there is no such folder.
    package init?(_ path: String) {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        var plain = path
        while plain.count > 1, plain.hasSuffix("/") { plain.removeLast() }
        paths = [plain.hasPrefix("/") ? plain : String(cString: real), String(cString: real)]
        guard let folder = try? open("."), Self.status(folder).st_mode & S_IFMT == S_IFDIR else { return nil }
    }

    /// An open output, if it is still what the job made.
    struct Output: ~Copyable, Sendable {
        let file: Descriptor
        let name: String
        let bytes: Int64
        fileprivate let status: stat
    }

    /// Keeps that a file is the output although a further link to it was just made.
    func linked(_ output: borrowing Output, _ report: OutputReport) {
        verifier.keep(output.file.number, output.status, sha256: report.sha256)
    }

    /// Whether the main file of an output is said to be below the folder.
    func contains(_ report: OutputReport) -> Bool { parts(of: report.url) != nil }

    /// Opens the main file of an output of a job that ended then. No symlink below the folder is followed.
    func open(_ report: OutputReport, finished: Int64?) throws(Problem) -> Output {
        guard let parts = parts(of: report.url), let name = parts.last else {
            throw Problem(404, "not_stored", "the output is not in the folder of this server: get it from its url")
        }
        do throws(Errno) {
            var folder = try open(".")
            for part in parts.dropLast() { folder = try open(part, in: folder, O_RDONLY | O_DIRECTORY) }
            let file = try open(name, in: folder, O_RDONLY | O_NONBLOCK)
            let status = Self.status(file)
            guard status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size) == report.bytes,
                try verifier.isSame(file.number, status, sha256: report.sha256, finished: finished)
            else {
                throw Errno(rawValue: ENOENT)
            }
            return Output(file: file, name: name, bytes: report.bytes, status: status)
        } catch {
            guard [ENOENT, ENOTDIR, ELOOP, EACCES].contains(error.rawValue) else {
                throw Problem(500, "internal", "the output cannot be opened: \(error)")
            }
            throw Problem(410, "gone", "the output was removed or changed since the job ended")
        }
    }

    /// The names of the folders below the root, and of the file; `nil` if the file is elsewhere. A report has the path as it is,
    /// not a URL of it.
    private func parts(of path: String) -> [String]? {
        guard !path.utf8.contains(0), let root = paths.first(where: { path.hasPrefix($0 == "/" ? "/" : $0 + "/") })
        else { return nil }
        let parts = path.dropFirst(root == "/" ? 1 : root.count + 1)
            .split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return parts.contains(where: { ["", ".", ".."].contains($0) }) ? nil : parts
    }

    private func open(_ name: String, in folder: borrowing Descriptor, _ flags: CInt) throws(Errno) -> Descriptor {
        let number = openat(folder.number, name, flags | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw .last }
        return Descriptor(owning: number)
    }

    private func open(_ name: String) throws(Errno) -> Descriptor {
        let number = Glibc.open(paths[1] + "/" + name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw .last }
        return Descriptor(owning: number)
    }

    private static func status(_ file: borrowing Descriptor) -> stat {
        var status = stat()
        fstat(file.number, &status)
        return status
    }
}
