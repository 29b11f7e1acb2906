import Glibc
package import Lifecycle

/// A regular file that is read through a borrowed descriptor. The owner keeps the descriptor open.
package final class DescriptorSource: ByteSource {
    /// The file's length when the source was made, even if the file changes later.
    package let length: Int64
    private let number: CInt

    /// Throws if `fstat` fails, as for a closed descriptor.
    package init(borrowing number: CInt) throws(Errno) {
        self.number = number
        self.length = try fileLength(number)
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try readFile(number, into: buffer, at: offset)
    }
}

/// A regular file that is written and read through a borrowed descriptor. The owner keeps the descriptor open.
package final class DescriptorStore: RandomAccessOutput {
    private let number: CInt

    /// The descriptor must be open for reading and writing.
    package init(borrowing number: CInt) { self.number = number }

    package var length: Int64 {
        get throws { try fileLength(number) }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        var done = 0
        while done < bytes.count {
            let count = pwrite(number, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + off_t(done))
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw Errno.last }
            done += count
        }
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try readFile(number, into: buffer, at: offset)
    }
}

private func fileLength(_ number: CInt) throws(Errno) -> Int64 {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw .last }
    return Int64(status.st_size)
}

private func readFile(_ number: CInt, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int
{
    while true {
        let count = pread(number, buffer.baseAddress, buffer.count, off_t(offset))
        if count < 0 && errno == EINTR { continue }
        guard count >= 0 else { throw .last }
        return count
    }
}
