package import Bytes
import CLibav
package import Libav
package import MediaTypes

/// Converts samples to the encoder's shape, and produces exactly the number of samples that the two rates require.
package struct SampleConverter: ~Copyable {
    /// The samples that the last call produced.
    package let result: Frame
    private let input: SampleShape
    private let output: SampleShape
    private let resampler: Resampler?
    /// Converts the resampler's floats to integers, if the rate or the channels change.
    private let rounding: Resampler?
    private let floats: Frame
    /// Samples that exceeded the range of integers.
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

    /// Opens a converter. `bits` is the number of significant bits of an integer sample, if fewer than its size in memory.
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
        // The resampler outputs the floating-point format in which it works, so that samples over full scale can be counted.
        var middle = output
        middle.format =
            input.sampleBytes == 8 || output.sampleBytes == 8 ? AV_SAMPLE_FMT_DBLP : AV_SAMPLE_FMT_FLTP
        return SampleConverter(
            input, output, try Resampler.open(input, to: middle, engine: engine),
            try Resampler.open(middle, to: output, bits: bits), result: try Frame(), floats: try Frame())
    }

    /// Converts a frame into `result`; returns `false` if the frame needs no conversion.
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

    /// After the input has ended, puts more of the missing samples into `result`; returns `false` if none are missing.
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
