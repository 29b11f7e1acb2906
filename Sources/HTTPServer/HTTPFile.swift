import CMicrohttpd
import Glibc
package import Lifecycle

/// A part of an open file as the body of a response. It is sent by the kernel, and never as a whole in memory.
package final class HTTPFile: Sendable {
    private let descriptor: Descriptor
    private let range: Range<Int64>

    /// The range must be within the file.
    package init(_ descriptor: consuming Descriptor, range: Range<Int64>) {
        self.descriptor = descriptor
        self.range = range
    }

    /// The corresponding C function is `MHD_create_response_from_fd_at_offset64`, which closes the descriptor.
    func makeResponse() -> OpaquePointer? {
        guard let number = try? descriptor.duplicate().release() else { return nil }
        let made = MHD_create_response_from_fd_at_offset64(
            UInt64(range.count), number, UInt64(range.lowerBound))
        if made == nil { close(number) }
        return made
    }
}
