import Glibc

/// The file of a Unix socket on which a listener accepts connections.
package struct SocketFile: Sendable {
    private let path: String
    private let device: dev_t
    private let inode: ino_t

    /// The file that a socket was just bound to; `nil` if it is gone already.
    package init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.path = path
        (device, inode) = (status.st_dev, status.st_ino)
    }

    /// Removes the file, unless another listener has put its own in its place.
    package func remove() {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
        unlink(path)
    }
}
