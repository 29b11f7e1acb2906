package import Bytes
package import Libav

/// What encodes frames of a fixed size and keeps their packets.
package protocol FrameWriter: ~Copyable {
    /// Samples of each channel that every frame but the last must hold; nothing if any number will do.
    var frameSize: Int? { get }
    var padding: CodecPadding { get }

    mutating func send(_ frame: borrowing Frame) throws(MediaError)

    /// Fixes the number of true samples: whatever is sent from now on may reach beyond them.
    mutating func setLength(_ samples: Int64)

    /// Takes the encoder's last packets, and completes what was written.
    mutating func finish() throws(MediaError)
}
