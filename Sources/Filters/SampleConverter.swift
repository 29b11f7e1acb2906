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
    /// The requested and the effective dither by job field name; empty if none was requested and no sample loses bits.
    package let effective: [String: Setting]
    private let makesIntegers: Bool
    private var taken: Int64 = 0
    private var made: Int64 = 0

    private init(
        _ input: SampleShape, _ output: SampleShape, _ resampler: consuming Resampler?,
        _ rounding: consuming Resampler?, effective: [String: Setting],
        result: consuming Frame, floats: consuming Frame
    ) {
        self.effective = effective
        self.result = result
        self.floats = floats
        self.input = input
        self.output = output
        makesIntegers = ClipMeter.concerns(input.format) && !ClipMeter.concerns(output.format)
        self.resampler = resampler
        self.rounding = rounding
    }

    /// Opens a converter. `bits` is the number of significant bits of an integer sample, if fewer than its size in memory.
    ///
    /// Samples of the depth that lose bits are dithered by the requested method, or by `triangular`.
    package static func open(
        _ input: SampleShape, _ depth: SampleDepth, to output: SampleShape, bits: Int?, dither requested: DitherMethod?,
        engine: ResamplerEngine = .swr
    ) throws(MediaError) -> SampleConverter {
        let changes = input.rate != output.rate || !input.layout.equals(output.layout.pointer)
        let losesBits =
            !ClipMeter.concerns(output.format)
            && (changes || ClipMeter.concerns(input.format)
                || depth.significantBits(in: input) > bits ?? output.sampleBytes * 8)
        let dither = losesBits ? requested ?? .triangular : .none
        let effective =
            losesBits || requested != nil
            ? ["dither": Setting(requested: requested?.rawValue, effective: dither.rawValue)] : [:]
        guard !input.equals(output) || bits != nil else {
            return SampleConverter(
                input, output, nil, nil, effective: effective, result: try Frame(), floats: try Frame())
        }
        guard changes, !ClipMeter.concerns(output.format) else {
            return SampleConverter(
                input, output, try Resampler.open(input, to: output, bits: bits, dither: dither, engine: engine), nil,
                effective: effective, result: try Frame(), floats: try Frame())
        }
        // The resampler outputs the floating-point format in which it works, so that samples over full scale can be counted.
        var middle = output
        middle.format =
            input.sampleBytes == 8 || output.sampleBytes == 8 ? AV_SAMPLE_FMT_DBLP : AV_SAMPLE_FMT_FLTP
        return SampleConverter(
            input, output, try Resampler.open(input, to: middle, engine: engine),
            try Resampler.open(middle, to: output, bits: bits, dither: dither), effective: effective,
            result: try Frame(), floats: try Frame())
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

extension SampleDepth {
    /// The bits of an integer sample that may differ from zero.
    fileprivate func significantBits(in shape: SampleShape) -> Int {
        if case .integer(let bits) = self { bits } else { shape.sampleBytes * 8 }
    }
}
