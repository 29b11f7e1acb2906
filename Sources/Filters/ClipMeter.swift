import CLibav
import Libav
import MediaTypes

/// Counts the floating-point samples that exceed the range of integer samples.
struct ClipMeter {
    private(set) var samples: Int64 = 0
    /// The largest magnitude among them; full scale is 1.
    private(set) var highest = 1.0

    /// Whether the format is floating point.
    static func concerns(_ format: AVSampleFormat) -> Bool { FloatRepair.concerns(format) }

    mutating func read(_ frame: borrowing Frame, _ shape: SampleShape) {
        if av_get_packed_sample_fmt(shape.format) == AV_SAMPLE_FMT_DBL {
            read(frame, shape, of: Double.self)
        } else {
            read(frame, shape, of: Float.self)
        }
    }

    private mutating func read<Number: BinaryFloatingPoint>(
        _ frame: borrowing Frame, _ shape: SampleShape, of type: Number.Type
    ) {
        let (count, length) =
            shape.isPlanar ? (shape.channels, frame.samples) : (1, frame.samples * shape.channels)
        for plane in 0..<count {
            let start = UnsafeMutableRawPointer(frame.planes[plane]!).assumingMemoryBound(to: type)
            var most: Number = 1
            var over = 0
            for sample in UnsafeBufferPointer(start: start, count: length) where sample.magnitude > 1 {
                over &+= 1
                most = max(most, sample.magnitude)
            }
            samples += Int64(over)
            highest = max(highest, Double(most))
        }
    }

    /// Warnings about the output.
    var warnings: [Warning] {
        guard samples > 0 else { return [] }
        let over = max((decibels(highest) * 10).rounded() / 10, 0.1)
        return [
            Warning(
                .clipped,
                "\(samples) samples exceed full scale, by up to \(over) dB, and were clipped; "
                    + "set `true_peak` to limit them, or `sample_format` to f32 to keep them")
        ]
    }
}
