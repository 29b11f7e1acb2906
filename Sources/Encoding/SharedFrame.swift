package import Bytes
package import Libav

/// A frame on its way to several encoders, each of which takes a reference of its own; nobody changes it or its samples.
package final class SharedFrame: @unchecked Sendable {
    package let frame: Frame
    package let bytes: Int

    package init(_ other: borrowing Frame) throws(MediaError) {
        frame = try Frame()
        try frame.share(other)
        bytes = frame.bytes
    }
}
