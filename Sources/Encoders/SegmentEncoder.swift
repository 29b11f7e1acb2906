import Bytes
import CLibav
import Glibc
import Libav
import MediaTypes

/// The encoder of a segment. Only one thread at a time uses it.
final class SegmentEncoder: @unchecked Sendable {
    let encoder: Encoder
    /// The number of its next packet in the stream.
    var nextPacket: Int
    /// Whether it encodes the stream from its start, and numbers its packets as they are.
    private(set) var isFirst: Bool
    /// Fades in the first frames; `nil` if they are not changed, or after them.
    private var fade: SegmentFade?
    /// How many more frames have a raised bit rate, and the stream's; `nil` after them.
    private var raised: (frames: Int, bitRate: Int)?

    init(_ encoder: consuming Encoder, start: Int, fade: consuming SegmentFade? = nil) {
        self.encoder = encoder
        nextPacket = start
        isFirst = start == 0
        self.fade = fade
    }

    /// Raises the bit rate, which is that of the stream, for the first frames.
    ///
    /// The rate control of AAC (`aac_encode_frame`, `calc_bit_demand`) starts with a full reservoir of bits and a low `lambda`.
    /// Packets have the right size at once, but for about half a minute (at 128 kb/s) other noise than after minutes of sound,
    /// where the reservoir is nearly empty and `lambda` is higher. The reservoir counts bits by the rate with which the encoder was
    /// opened, and `lambda` follows the rate of the frame, so a raised rate brings both to where they end within a few frames.
    func raiseBitRate(_ bitRate: Int, _ raise: EncoderJoint.BitRateRaise) {
        encoder.setBitRate(Int(Double(bitRate) * raise.factor))
        raised = (raise.frames, bitRate)
    }

    private func countRaisedFrame() {
        guard let (frames, bitRate) = raised else { return }
        raised = frames > 0 ? (frames - 1, bitRate) : nil
        if raised == nil { encoder.setBitRate(bitRate) }
    }

    /// Sends a frame of the segment to the encoder.
    func send(_ frame: borrowing Frame) throws(MediaError) {
        countRaisedFrame()
        guard try fade?.send(frame, to: encoder) ?? false else {
            fade = nil
            return try encoder.send(frame)
        }
    }

    /// Continues with the first frame of another segment.
    func restart(at frame: Int) {
        nextPacket = frame
        isFirst = false
    }
}

/// Fades in the start of a segment for its encoder, from −90 dB. The level rises by the same number of dB in each millisecond, because
/// encoders hear an attack where it rises by 6 dB within 17 ms.
struct SegmentFade: ~Copyable {
    private let shape: SampleShape
    private let faded: Frame
    /// The factor of the next sample, and by how much it grows.
    private var level: Float = 3.16e-5
    private let growth: Float

    /// `length` is in samples.
    init(length: Int, _ shape: SampleShape) throws(MediaError) {
        faded = try Frame()
        self.shape = shape
        growth = pow(level, -1 / Float(length))
    }

    /// Sends a copy of a frame that is faded in; returns `false` after the fade. Other encoders receive the same frame as it is.
    mutating func send(_ frame: borrowing Frame, to encoder: borrowing Encoder) throws(MediaError) -> Bool {
        guard level < 1 else { return false }
        try faded.reserve(frame.samples, shape)
        faded.pointer.pointee.pts = frame.pointer.pointee.pts
        for index in 0..<frame.samples {
            for channel in 0..<shape.channels {
                faded.floats(channel)[index] = frame.floats(channel)[index] * level
            }
            level = min(level * growth, 1)
        }
        try encoder.send(faded)
        return true
    }
}
