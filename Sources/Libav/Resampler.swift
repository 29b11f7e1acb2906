package import Bytes
import CLibav
package import MediaTypes

/// Converts the rate, layout and format of samples; owns a `SwrContext`.
package struct Resampler: ~Copyable {
    /// The shape of the input samples.
    package let input: SampleShape
    /// The shape of the output samples.
    package let output: SampleShape
    private let context: OpaquePointer

    private init(owning context: OpaquePointer, _ input: SampleShape, _ output: SampleShape) {
        self.context = context
        self.input = input
        self.output = output
    }

    deinit {
        var context: OpaquePointer? = context
        swr_free(&context)
    }

    /// Opens a converter. It dithers if samples lose bits. `bits` is the number of significant bits of an integer output
    /// sample.
    ///
    /// Channels are mixed by `mix`, or by the default mix between the layouts.
    package static func open(
        _ input: SampleShape, to output: SampleShape, bits: Int? = nil, mix: ChannelMix? = nil,
        dither: DitherMethod = .triangular, engine: ResamplerEngine = .swr
    ) throws(MediaError) -> Resampler {
        var made: OpaquePointer?
        try check(
            swr_alloc_set_opts2(
                &made, output.layout.pointer, output.format, CInt(output.rate), input.layout.pointer, input.format,
                CInt(input.rate), 0, nil),
            operation)
        guard let context = made else { throw .outOfMemory(operation) }
        let resampler = Resampler(owning: context, input, output)
        let raw = UnsafeMutableRawPointer(context)
        try check(av_opt_set_int(raw, "dither_method", Int64(dither.swr.rawValue), 0), operation)
        if let bits { av_opt_set_int(raw, "output_sample_bits", Int64(bits), 0) }
        // Rate conversion and mixing run in floating point, not in the 16 bits that libswresample would choose.
        if input.rate != output.rate || mix != nil || !input.layout.equals(output.layout.pointer) {
            let wide = input.sampleBytes == 8 || output.sampleBytes == 8
            let working = wide ? AV_SAMPLE_FMT_DBLP : AV_SAMPLE_FMT_FLTP
            av_opt_set_sample_fmt(raw, "internal_sample_fmt", working, 0)
        } else if output.format == AV_SAMPLE_FMT_DBL || output.format == AV_SAMPLE_FMT_DBLP {
            av_opt_set_sample_fmt(raw, "internal_sample_fmt", AV_SAMPLE_FMT_DBLP, 0)
        } else if output.sampleBytes < min(input.sampleBytes, 4) {
            // Between integers, libswresample cuts bits off, which lowers every sample by half a step on average.
            av_opt_set_sample_fmt(raw, "internal_sample_fmt", AV_SAMPLE_FMT_FLTP, 0)
        }
        if engine == .soxr && input.rate != output.rate {
            av_opt_set_int(raw, "resampler", Int64(SWR_ENGINE_SOXR.rawValue), 0)
            av_opt_set_double(raw, "precision", 28, 0)
        }
        let changesLayout = !input.layout.equals(output.layout.pointer)
        if let mix = mix ?? (changesLayout ? ChannelMix(from: input.layout, to: output.layout) : nil) {
            swr_set_matrix(context, mix.factors, CInt(input.channels))
        }
        let code = swr_init(context)
        guard code >= 0 else {
            throw MediaError(
                .invalidSettings, operation,
                "\(input.channels) channels (\(input.layout)) at \(input.rate) Hz cannot become "
                    + "\(output.channels) (\(output.layout)) at \(output.rate) Hz"
                    + (changesLayout ? "; give a channel_map or a mix" : ""),
                code: .init(rawValue: code))
        }
        return resampler
    }

    private static let operation = "convert samples"

    /// Converts a frame's samples into the result, which may be empty.
    package borrowing func convert(_ frame: borrowing Frame, into result: borrowing Frame) throws(MediaError) {
        let input = UnsafeMutableRawPointer(frame.planes).assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
        try pull(result, input, CInt(frame.samples))
    }

    /// After the input has ended, puts the remaining samples into the result, which is empty at the end.
    package borrowing func drain(into result: borrowing Frame) throws(MediaError) { try pull(result, nil, 0) }

    private borrowing func pull(
        _ result: borrowing Frame, _ input: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ count: CInt
    ) throws(MediaError) {
        let most = max(try check(swr_get_out_samples(context, count), Self.operation), 1)
        try result.reserve(Int(most), output)
        let made = try check(swr_convert(context, result.planes, most, input, count), Self.operation)
        result.keepFirst(Int(made))
    }
}

extension DitherMethod {
    /// libswresample's method.
    fileprivate var swr: SwrDitherType {
        switch self {
        case .none: SWR_DITHER_NONE
        case .rectangular: SWR_DITHER_RECTANGULAR
        case .triangular: SWR_DITHER_TRIANGULAR
        // Of its noise shaping filters, Shibata's exist for the most sample rates.
        case .shaped: SWR_DITHER_NS_SHIBATA
        }
    }
}
