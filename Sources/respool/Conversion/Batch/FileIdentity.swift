import Glibc

/// Identifies a file under all of its paths.
struct FileIdentity: Hashable {
    private let device: UInt
    private let number: UInt

    /// The identity of the file at a path, following links; `nil` if there is none.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, number) = (UInt(status.st_dev), UInt(status.st_ino))
    }
}
