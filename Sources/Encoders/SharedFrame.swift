package import Bytes
package import Libav

/// A frame that is shared by several encoders. Each takes a separate reference, and none changes the frame or its samples.
package final class SharedFrame: @unchecked Sendable {
    /// The frame with its reference to the samples; it must not be changed.
    package let frame: Frame
    /// The memory size of the samples.
    package let bytes: Int

    /// Takes another reference to the samples of the frame; throws if no memory is left.
    package init(_ other: borrowing Frame) throws(MediaError) {
        frame = try Frame()
        try frame.share(other)
        bytes = frame.bytes
    }
}
