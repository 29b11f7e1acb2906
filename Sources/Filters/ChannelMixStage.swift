package import Bytes
import CLibav
package import Libav
package import MediaTypes

/// The first stage of the chain: selects and mixes channels, converts the samples to planar floats in the output's layout, and
/// applies the high-pass filter. The sample rate stays the source's.
package final class ChannelMixStage {
    /// Planar floats in the output's layout, at the source's rate.
    package let output: SampleShape
    private let map: ChannelMap?
    private let mixer: Resampler?
    private let last: Resampler
    private var highPass: HighPass?
    private let mixed: Frame
    private let result: Frame

    /// Throws if the settings use a channel or a frequency that the source lacks.
    package init(_ sound: SoundSettings, _ inputShape: SampleShape, _ settings: EncodingSettings) throws(MediaError) {
        var shape = inputShape
        var map: ChannelMap?
        if let channelMap = sound.channelMap {
            let made = try ChannelMap.open(channelMap, shape)
            shape = made.output
            map = consume made
        }
        var mixer: Resampler?
        if let matrix = sound.mix {
            let mix = try ChannelMix(matrix, shape.layout)
            let mixedShape = SampleShape(format: AV_SAMPLE_FMT_FLTP, rate: shape.rate, layout: mix.output)
            mixer = try Resampler.open(shape, to: mixedShape, mix: mix)
            shape = mixedShape
        }
        let layout = settings.relabels(shape.layout) ? shape.layout : settings.shape.layout
        output = SampleShape(format: AV_SAMPLE_FMT_FLTP, rate: shape.rate, layout: layout)
        let channels = output.channels
        highPass = try sound.highPass.map { frequency throws(MediaError) in
            try HighPass(frequency, rate: inputShape.rate, channels: channels)
        }
        mixed = try Frame()
        result = try Frame()
        last = try Resampler.open(shape, to: output)
        self.map = map
        self.mixer = mixer
    }

    /// Passes the samples to the body as floats, which the body may change in place.
    package func convert(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        switch map {
        case .none: try mix(frame, body)
        case .some(let map):
            try map.apply(frame) { (mapped: borrowing Frame) throws(MediaError) in try mix(mapped, body) }
        }
    }

    private func mix(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        switch mixer {
        case .none: try last.convert(frame, into: result)
        case .some(let mixer):
            try mixer.convert(frame, into: mixed)
            try last.convert(mixed, into: result)
        }
        highPass?.process(result)
        try body(result)
    }
}
