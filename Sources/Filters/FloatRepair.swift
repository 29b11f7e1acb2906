import Bytes
import CLibav
import Libav
import MediaTypes

/// Replaces NaN and infinite floats by silence, and clamps the others to 60 dB over full scale.
///
/// Encoders fail on both: LAME aborts (`el >= 0`, `part2_3_length <= MAX_BITS_PER_CHANNEL`), and libav's AAC encoder never
/// finishes. A conversion to integers would turn NaN into a click at full scale, and a recursive filter would never recover
/// from it.
final class FloatRepair: SoundStage {
    let output: SampleShape
    private let copy: Frame
    private var repaired: Int64 = 0

    /// The largest magnitude that passes. Both encoders still accept levels 30 dB higher.
    static let highest = 1024

    /// Samples of the shape are floating point.
    init(_ shape: SampleShape) throws(MediaError) {
        copy = try Frame()
        output = shape
    }

    /// Whether the format is floating point.
    static func concerns(_ format: AVSampleFormat) -> Bool {
        [AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_DBL].contains(av_get_packed_sample_fmt(format))
    }

    /// Passes the frame to the body, or a repaired copy if it has invalid samples.
    func append(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        let isDouble = av_get_packed_sample_fmt(output.format) == AV_SAMPLE_FMT_DBL
        if isDouble { try append(frame, of: Double.self, body) } else { try append(frame, of: Float.self, body) }
    }

    private func append<Number: BinaryFloatingPoint>(
        _ frame: borrowing Frame, of type: Number.Type, _ body: FrameBody
    ) throws(MediaError) {
        let highest = Number(Self.highest)
        var wrong = 0
        for plane in Self.planes(of: frame, output, type) {
            // The negation also catches NaN, which is never less than or equal to a number.
            for sample in plane where !(sample.magnitude <= highest) { wrong &+= 1 }
        }
        guard wrong > 0 else { return try body(frame) }
        repaired += Int64(wrong)
        try copy.reserve(frame.samples, output)
        av_samples_copy(copy.planes, frame.planes, 0, 0, CInt(frame.samples), CInt(output.channels), output.format)
        for plane in Self.planes(of: copy, output, type) {
            for index in plane.indices {
                plane[index] = plane[index].isFinite ? min(max(plane[index], -highest), highest) : 0
            }
        }
        try body(copy)
    }

    /// Warnings about the output.
    var warnings: [Warning] {
        guard repaired > 0 else { return [] }
        return [
            Warning(
                .samplesSanitized,
                "\(repaired) of the source's samples were replaced: NaN and infinity by silence, levels over +60 dBFS by +60 dBFS"
            )
        ]
    }

    private static func planes<Number>(
        of frame: borrowing Frame, _ shape: SampleShape, _ type: Number.Type
    ) -> [UnsafeMutableBufferPointer<Number>] {
        let (count, length) =
            shape.isPlanar ? (shape.channels, frame.samples) : (1, frame.samples * shape.channels)
        return (0..<count).map { plane in
            UnsafeMutableBufferPointer(
                start: UnsafeMutableRawPointer(frame.planes[plane]!).assumingMemoryBound(to: type), count: length)
        }
    }
}
