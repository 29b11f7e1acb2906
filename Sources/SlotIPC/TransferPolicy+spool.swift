package import Configuration
import Glibc
import Lifecycle

extension TransferPolicy {
    /// The spool folder if none is set: one that no other user of the machine can enter.
    package static let ownSpoolFolder = "/tmp/respool-\(geteuid())"

    /// Creates the own spool folder if it is the one in use, with mode 0700. Throws if it is not a folder of this user that others
    /// cannot enter.
    package func createOwnSpoolFolder() throws(SettingError) {
        let folder = Self.ownSpoolFolder
        guard spoolFolder == folder else { return }
        let error: Errno? = mkdir(folder, 0o700) == 0 ? nil : .last
        // Another user can create it first, also as a link to another folder.
        var status = stat()
        guard error == nil || error?.rawValue == EEXIST, lstat(folder, &status) == 0,
            status.st_mode & S_IFMT == S_IFDIR,
            status.st_uid == geteuid(), status.st_mode & 0o077 == 0
        else {
            let reason =
                error.flatMap { $0.rawValue == EEXIST ? nil : "\($0)" } ?? "it exists with another owner or mode"
            throw SettingError(
                message: "the spool folder '\(folder)' cannot be created with mode 0700 (\(reason)): "
                    + "remove it, or set \(Settings.spoolFolder.name)")
        }
    }
}
