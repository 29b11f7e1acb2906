package import Bytes
import CLibav
package import Libav
package import MediaTypes

/// Brings samples to the encoder's shape, and their number to exactly what the rates ask for.
package struct SampleConverter: ~Copyable {
    /// What the last call made.
    package let result: Frame
    private let input: SampleShape
    private let output: SampleShape
    private let resampler: Resampler?
    /// What makes integers of the resampler's floats, where those have another rate or other channels than the input.
    private let rounding: Resampler?
    private let floats: Frame
    /// Samples that integers could not hold.
    package private(set) var clipping = ClipMeter()
    private let makesIntegers: Bool
    private var taken: Int64 = 0
    private var made: Int64 = 0

    private init(
        _ input: SampleShape, _ output: SampleShape, _ resampler: consuming Resampler?,
        _ rounding: consuming Resampler?,
        result: consuming Frame, floats: consuming Frame
    ) {
        self.result = result
        self.floats = floats
        self.input = input
        self.output = output
        makesIntegers = ClipMeter.concerns(input.format) && !ClipMeter.concerns(output.format)
        self.resampler = resampler
        self.rounding = rounding
    }

    /// Makes a converter; `bits` is how many of an integer sample are to count where that is fewer than memory holds.
    package static func open(
        _ input: SampleShape, to output: SampleShape, bits: Int?, engine: ResamplerEngine = .swr
    ) throws(MediaError) -> SampleConverter {
        guard !input.equals(output) || bits != nil else {
            return SampleConverter(input, output, nil, nil, result: try Frame(), floats: try Frame())
        }
        let changes = input.rate != output.rate || !input.layout.equals(output.layout.pointer)
        guard changes, !ClipMeter.concerns(output.format) else {
            return SampleConverter(
                input, output, try Resampler.open(input, to: output, bits: bits, engine: engine), nil,
                result: try Frame(), floats: try Frame())
        }
        // In the floating point in which the resampler works, so that what integers cannot hold is seen.
        var middle = output
        middle.format =
            input.sampleBytes == 8 || output.sampleBytes == 8 ? AV_SAMPLE_FMT_DBLP : AV_SAMPLE_FMT_FLTP
        return SampleConverter(
            input, output, try Resampler.open(input, to: middle, engine: engine),
            try Resampler.open(middle, to: output, bits: bits), result: try Frame(), floats: try Frame())
    }

    /// Converts a frame into `result`; false if the frame already is what is wanted.
    package mutating func convert(_ frame: borrowing Frame) throws(MediaError) -> Bool {
        switch resampler {
        case .none: return false
        case .some(let resampler):
            taken += Int64(frame.samples)
            switch rounding {
            case .none:
                if makesIntegers { clipping.read(frame, input) }
                try resampler.convert(frame, into: result)
            case .some(let rounding):
                try resampler.convert(frame, into: floats)
                clipping.read(floats, resampler.output)
                try rounding.convert(floats, into: result)
            }
            made += Int64(result.samples)
            return true
        }
    }

    /// Puts more of what is owed once the input has ended into `result`; false when nothing is.
    package mutating func drain() throws(MediaError) -> Bool {
        switch resampler {
        case .none: return false
        case .some(let resampler):
            let owed = av_rescale_rnd(taken, Int64(output.rate), Int64(input.rate), AV_ROUND_UP) - made
            guard owed > 0 else { return false }
            switch rounding {
            case .none: try resampler.drain(into: result)
            case .some(let rounding):
                try resampler.drain(into: floats)
                clipping.read(floats, resampler.output)
                try rounding.convert(floats, into: result)
            }
            if result.samples == 0 {
                try result.reserve(Int(min(owed, 4096)), output)
                result.silence(output)
            }
            result.keepFirst(Int(min(Int64(result.samples), owed)))
            made += Int64(result.samples)
            return true
        }
    }
}
