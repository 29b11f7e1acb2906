/// A frame that several encoders hold, each with an owner of its own; nobody changes the samples.
final class SharedFrame: @unchecked Sendable {
    let frame = Frame()
    let bytes: Int

    init(_ other: borrowing Frame) throws(MediaError) {
        try frame.share(other)
        bytes = frame.bytes
    }
}
