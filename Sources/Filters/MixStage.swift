import Bytes
import CLibav
import Libav
import MediaTypes

/// Mixes channels, and makes planar floats, at the same sample rate.
final class MixStage: SoundStage {
    let output: SampleShape
    private let resampler: Resampler
    private let result: Frame

    /// Makes the channels of a matrix.
    init(_ matrix: MixMatrix, _ input: SampleShape) throws(MediaError) {
        let mix = try ChannelMix(matrix, input.layout)
        output = SampleShape(format: AV_SAMPLE_FMT_FLTP, rate: input.rate, layout: mix.output)
        resampler = try Resampler.open(input, to: output, mix: mix)
        result = try Frame()
    }

    /// Makes the channels of a layout.
    init(_ input: SampleShape, to layout: ChannelLayout) throws(MediaError) {
        output = SampleShape(format: AV_SAMPLE_FMT_FLTP, rate: input.rate, layout: layout)
        resampler = try Resampler.open(input, to: output)
        result = try Frame()
    }

    func append(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        try resampler.convert(frame, into: result)
        try body(result)
    }
}
