import CMicrohttpd
import Glibc
package import Lifecycle

/// A part of an open file as the body of a response, which is never as a whole in memory.
package final class HTTPFile: Sendable {
    private let descriptor: Descriptor
    private let range: Range<Int64>

    private static let blockBytes = 64 << 10

    /// The range must be within the file.
    package init(_ descriptor: consuming Descriptor, range: Range<Int64>) {
        self.descriptor = descriptor
        self.range = range
    }

    /// The kernel sends the file, but with TLS. The corresponding C function is `MHD_create_response_from_fd_at_offset64`, which
    /// closes the descriptor.
    func makeResponse() -> OpaquePointer? {
        guard let number = try? descriptor.duplicate().release() else { return nil }
        let made = MHD_create_response_from_fd_at_offset64(
            UInt64(range.count), number, UInt64(range.lowerBound))
        if made == nil { close(number) }
        return made
    }

    /// This process reads the file, and counts the bytes that it hands to the kernel.
    func makeResponse(counting count: @escaping @Sendable (Int) -> Void) -> OpaquePointer? {
        let reader = Unmanaged.passRetained(FileReader(file: self, count: count))
        let made = MHD_create_response_from_callback(
            UInt64(range.count), Self.blockBytes,
            { context, position, buffer, count in
                guard let context, let buffer else { return endWithError }
                return Unmanaged<FileReader>.fromOpaque(context).takeUnretainedValue()
                    .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count), at: position)
            }, reader.toOpaque(), { context in context.map { Unmanaged<FileReader>.fromOpaque($0).release() } })
        if made == nil { reader.release() }
        return made
    }

    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer, at position: UInt64) -> Int {
        pread(descriptor.number, buffer.baseAddress, buffer.count, off_t(range.lowerBound) + off_t(position))
    }
}

/// `MHD_CONTENT_READER_END_WITH_ERROR` is a cast, which Swift does not import.
private let endWithError = -2

private final class FileReader: Sendable {
    private let file: HTTPFile
    private let count: @Sendable (Int) -> Void

    init(file: HTTPFile, count: @escaping @Sendable (Int) -> Void) {
        self.file = file
        self.count = count
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at position: UInt64) -> Int {
        let bytes = file.read(into: buffer, at: position)
        // A file that became shorter.
        guard bytes > 0 else { return endWithError }
        count(bytes)
        return bytes
    }
}
