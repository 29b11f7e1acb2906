package import Bytes
import CLibav
package import Libav
package import MediaTypes

/// Converts samples to the encoder's shape, and produces exactly the number of samples that the two rates require.
package final class SampleConverter: SoundStage {
    package let output: SampleShape
    private let input: SampleShape
    /// The samples that the last call produced.
    private let result: Frame
    private let resampler: Resampler?
    /// Converts the resampler's floats to integers, if the rate or the channels change.
    private let rounding: Resampler?
    private let floats: Frame
    /// Samples that exceeded the range of integers.
    private var clipping = ClipMeter()
    /// The requested and the effective dither by job field name; empty if none was requested and no sample loses bits.
    package let effective: [String: Setting]
    private let countsClipping: Bool
    private var taken: Int64 = 0
    private var made: Int64 = 0

    /// Opens a converter. `bits` is the number of significant bits of an integer sample, if fewer than its size in memory.
    ///
    /// Samples of the depth that lose bits are dithered by the requested method, or by `triangular`.
    init(
        _ input: SampleShape, _ depth: SampleDepth, to output: SampleShape, bits: Int?, dither requested: DitherMethod?,
        engine: ResamplerEngine = .swr
    ) throws(MediaError) {
        (self.input, self.output) = (input, output)
        result = try Frame()
        floats = try Frame()
        let makesIntegers = !ClipMeter.concerns(output.format)
        countsClipping = makesIntegers && ClipMeter.concerns(input.format)
        let changes = input.rate != output.rate || !input.layout.equals(output.layout.pointer)
        let losesBits =
            makesIntegers
            && (changes || countsClipping
                || depth.significantBits(in: input) > bits ?? output.sampleBytes * 8)
        let dither = losesBits ? requested ?? .triangular : .none
        effective =
            losesBits || requested != nil
            ? ["dither": Setting(requested: requested?.rawValue, effective: dither.rawValue)] : [:]
        guard !input.equals(output) || bits != nil else {
            resampler = nil
            rounding = nil
            return
        }
        guard changes, makesIntegers else {
            resampler = try Resampler.open(input, to: output, bits: bits, dither: dither, engine: engine)
            rounding = nil
            return
        }
        // The resampler outputs the floating-point format in which it works, so that samples over full scale can be counted.
        var middle = output
        middle.format =
            input.sampleBytes == 8 || output.sampleBytes == 8 ? AV_SAMPLE_FMT_DBLP : AV_SAMPLE_FMT_FLTP
        resampler = try Resampler.open(input, to: middle, engine: engine)
        rounding = try Resampler.open(middle, to: output, bits: bits, dither: dither)
    }

    /// Opens a converter from samples of a depth to the encoder's shape, or to another sample format.
    convenience init(
        _ input: SampleShape, _ depth: SampleDepth, for settings: EncodingSettings, as format: AVSampleFormat? = nil
    ) throws(MediaError) {
        var (input, output) = (input, settings.shape)
        if settings.relabels(input.layout) { input.layout = output.layout }
        if let format { output.format = format }
        let changes = input.rate != output.rate || !input.layout.equals(output.layout.pointer)
        try self.init(
            input, depth, to: output, bits: settings.reducedBits(from: depth, changes: changes), dither: settings.dither
        )
    }

    package var warnings: [Warning] { clipping.warnings }

    package func append(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        if try convert(frame) { try body(result) } else { try body(frame) }
    }

    /// Passes on the missing samples, so that there are `ceil(samples · output rate / input rate)` in all.
    package func finish(_ body: FrameBody) throws(MediaError) {
        while try drain() { try body(result) }
    }

    /// Converts a frame into `result`; returns `false` if the frame needs no conversion.
    private func convert(_ frame: borrowing Frame) throws(MediaError) -> Bool {
        switch resampler {
        case .none: return false
        case .some(let resampler):
            taken += Int64(frame.samples)
            switch rounding {
            case .none:
                if countsClipping { clipping.read(frame, input) }
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
    private func drain() throws(MediaError) -> Bool {
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

extension EncodingSettings {
    /// The significant bits of each integer sample in the file; `nil` unless they are fewer than the input's and than the size
    /// in memory. If the rate or the channels change, the input's samples are floating point in between.
    fileprivate func reducedBits(from depth: SampleDepth, changes: Bool) -> Int? {
        guard sampleFormat?.base == .s24 else { return nil }
        if case .integer(...24) = depth, !changes { return nil }
        return 24
    }
}
