package import Lifecycle

/// A file that no other process ever had, for the bytes of one that may still be written to.
package struct FileCopy: ~Copyable {
    let file: SealableFile
    private let writer: Descriptor
    /// The name that it has meanwhile, where the file system knows no files without one.
    let name: String?

    init(_ file: SealableFile, name: String? = nil) throws(Errno) {
        self.file = file
        writer = try file.ownWriter()
        self.name = name
    }

    /// Writes bytes at their place.
    package borrowing func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) {
        try writeAll(bytes, to: writer, at: offset)
    }
}
