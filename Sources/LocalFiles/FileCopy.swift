package import Lifecycle

/// A private copy of a file that other processes may still write to.
package struct FileCopy: ~Copyable {
    /// The file with the copy.
    package let file: SealableFile
    private let writer: Descriptor
    /// The temporary name of the copy, if the file system does not support unnamed files.
    let name: String?

    init(_ file: SealableFile, name: String? = nil) throws(Errno) {
        self.file = file
        writer = try file.ownWriter()
        self.name = name
    }

    /// Writes all bytes at the offset. The corresponding C function is `pwrite`.
    package borrowing func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) {
        try writeAll(bytes, to: writer, at: offset)
    }
}
