package import Bytes
package import Libav

/// Encodes frames of a fixed size and stores their packets.
package protocol FrameWriter: ~Copyable {
    /// The required samples of each channel in every frame except the last; `nil` if any number is accepted.
    var frameSize: Int? { get }
    var padding: CodecPadding { get }

    mutating func send(_ frame: borrowing Frame) throws(MediaError)

    /// Sets the number of true samples. Frames sent from now on may contain samples beyond it.
    mutating func setLength(_ samples: Int64)

    /// Writes the encoder's last packets, and completes the output.
    mutating func finish() throws(MediaError)
}
