/// A frame on its way to several encoders, each of which takes a reference of its own; nobody changes it or its samples.
final class SharedFrame: @unchecked Sendable {
    let frame: Frame
    let bytes: Int

    init(_ other: borrowing Frame) throws(MediaError) {
        frame = try Frame()
        try frame.share(other)
        bytes = frame.bytes
    }
}
