import Configuration
import FoundationEssentials
import Glibc
import Lifecycle
import MediaTypes
import Text

/// The folder of previews, which workers write to and this server removes files from. Its names cannot be guessed, because it
/// is a part of a source root.
///
/// All calls block.
package struct PreviewFolder: Sendable {
    private let path: String
    private let age: Duration
    /// The folder, for downloads.
    let files: OutputFolder

    /// `nil` if the folder cannot be created in that of uploads, or if this process may not write to it.
    package init?(uploads: String, age: Duration = .seconds(3600)) {
        guard let real = realpath(uploads, nil) else { return nil }
        defer { free(real) }
        path = Settings.previewFolder(of: String(cString: real))
        self.age = age
        try? createSharedFolder(path)
        guard access(path, R_OK | W_OK | X_OK) == 0,
            let files = OutputFolder(Settings.previewFolder(of: uploads))
        else { return nil }
        self.files = files
    }

    /// The URL of a new file, which does not exist yet.
    func newFile(_ fileExtension: String) -> String { url(newName(fileExtension)) }

    /// The URL of a further link to an output, which workers can then read although they may not read others in its folder;
    /// `nil` if the file systems differ, or if this process may not link it.
    func link(_ output: borrowing OutputFolder.Output, _ fileExtension: String) -> String? {
        let name = newName(fileExtension)
        // The open file is linked, whatever has its name now.
        guard
            linkat(AT_FDCWD, "/proc/self/fd/\(output.file.number)", AT_FDCWD, "\(path)/\(name)", AT_SYMLINK_FOLLOW) == 0
        else { return nil }
        return url(name)
    }

    /// Stores which job makes a preview, so that it is not made again. Without it, the next request makes it again.
    func store(_ job: String, as key: String) {
        let temporary = "\(path)/\(newName("new"))"
        let isWritten = FileManager.default.createFile(atPath: temporary, contents: Data(job.utf8))
        guard isWritten, rename(temporary, record(key)) == 0 else {
            unlink(temporary)
            return
        }
    }

    /// The job that makes a preview; `nil` if it is unknown, or so old that its file is removed soon.
    func job(_ key: String) -> String? {
        guard !isOlder(record(key), than: age * 5 / 6),
            let data = FileManager.default.contents(atPath: record(key)), data.count <= 64
        else { return nil }
        return String(validating: data, as: UTF8.self)
    }

    /// Removes the files whose time is over, and returns their names.
    package func removeExpired() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { isOlder("\(path)/\($0)", than: age) && unlink("\(path)/\($0)") == 0 }.sorted()
    }

    /// Whether a file exists, and has been here for longer. A link has the time at which its file was written, so that of the
    /// last change of its entry is compared.
    private func isOlder(_ file: String, than age: Duration) -> Bool {
        var status = stat()
        guard lstat(file, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { return false }
        return WallClock.milliseconds(of: status.st_ctim) + age.milliseconds <= WallClock.milliseconds()
    }

    private func newName(_ fileExtension: String) -> String {
        "\((0..<16).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal).\(fileExtension)"
    }

    private func record(_ key: String) -> String { "\(path)/\(key).job" }

    private func url(_ name: String) -> String { Self.url("\(path)/\(name)") }

    /// The URL of a file with an absolute path.
    static func url(_ path: String) -> String { "file://" + PercentEncoding.encoded(path: path) }
}
