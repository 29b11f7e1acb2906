package import Configuration
import Glibc
import Lifecycle

extension TransferPolicy {
    /// The folders of jobs. The sandbox of a running child is bound to those that existed when it started.
    package var folders: [String] {
        sourceRoots + [outputRoot, previewFolder, spoolFolder, cacheFolder].compactMap(\.self)
    }

    /// Throws if a folder that any job may use is missing or inaccessible. `examining` is called with each folder before.
    package func checkFolders(examining: (String) -> Void = { _ in }) throws(SettingError) {
        for root in sourceRoots {
            examining(root)
            try Self.check(Settings.sourceRoots, root, R_OK | X_OK, "read")
        }
        if let root = outputRoot {
            examining(root)
            try Self.check(Settings.outputRoot, root, W_OK | X_OK, "written to")
        }
        examining(spoolFolder)
        try createOwnSpoolFolder()
        try Self.check(Settings.spoolFolder, spoolFolder, W_OK | X_OK, "written to")
        if let folder = cacheFolder {
            examining(folder)
            try Self.check(Settings.cacheFolder, folder, R_OK | W_OK | X_OK, "written to")
        }
    }

    /// The `.` after the path requires it to be a folder (path_resolution(7)).
    private static func check(
        _ setting: any SettingDeclaration, _ path: String, _ mode: Int32, _ use: String
    ) throws(SettingError) {
        guard access("\(path)/.", mode) != 0 else { return }
        let error = Errno.last
        let help =
            error.rawValue == EACCES
            ? "run `chown -R \(geteuid()):\(getegid()) \(path)`, or `chmod` it and the folders above"
            : "create that folder, or give another"
        throw SettingError(setting.name, is: path, expected: "a folder that can be \(use) (\(error)); \(help)")
    }
}
