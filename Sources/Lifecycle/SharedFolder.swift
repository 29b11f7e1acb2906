import Glibc

/// Creates a folder that programs of the same group may write to, if it is missing. It keeps the group of the folder above,
/// where that one has the set-group-ID bit. The corresponding C function is `mkdir`.
package func createSharedFolder(_ path: String) throws(Errno) {
    guard mkdir(path, 0o770) == 0 else {
        let error = Errno.last
        guard error.rawValue == EEXIST else { throw error }
        return
    }
    var status = stat()
    // The file mode creation mask has removed rights of the group.
    guard stat(path, &status) == 0, chmod(path, status.st_mode & 0o7777 | 0o770) == 0 else { throw .last }
}
