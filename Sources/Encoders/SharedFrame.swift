package import Bytes
package import Libav

/// A frame that is shared by several encoders. Each takes a separate reference, and none changes the frame or its samples.
package final class SharedFrame: @unchecked Sendable {
    package let frame: Frame
    /// The memory size of the samples.
    package let bytes: Int

    package init(_ other: borrowing Frame) throws(MediaError) {
        frame = try Frame()
        try frame.share(other)
        bytes = frame.bytes
    }
}
