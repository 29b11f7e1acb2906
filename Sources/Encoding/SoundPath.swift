package import Bytes
package import CLibav
package import Decoding
package import Filters
package import Libav
package import MediaTypes

/// The way of samples from a reader to what an output is made of: through the sound chain, then into the shape wanted.
package final class SoundPath {
    package let chain: AudioFilterChain?
    private var converter: SampleConverter

    /// A way to what the settings' encoder takes, or to another form of its samples.
    package init(
        _ rendition: Rendition, _ reader: borrowing AssetReader, _ settings: EncodingSettings,
        as format: AVSampleFormat? = nil, _ measurement: SoundMeasurement?
    ) throws(MediaError) {
        let chain = try AudioFilterChain.open(rendition.sound, reader.shape, reader.depth, settings, measurement)
        self.chain = chain
        converter = try SampleConverter.open(
            chain?.output ?? reader.shape, chain?.depth ?? reader.depth, for: settings, as: format)
    }

    /// Takes a frame of the source, which stays as it is, and hands what becomes of it to the body.
    package func append(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        guard let chain else { return try convert(frame, body) }
        try chain.append(frame) { (changed: borrowing Frame) throws(MediaError) in try convert(changed, body) }
    }

    /// What a person should know of the samples given.
    package var warnings: [Warning] { converter.clipping.warnings }

    private func convert(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        if try converter.convert(frame) { try body(converter.result) } else { try body(frame) }
    }

    /// Hands what is still inside to the body.
    package func finish(_ body: FrameBody) throws(MediaError) {
        try chain?.finish { (rest: borrowing Frame) throws(MediaError) in try convert(rest, body) }
        while try converter.drain() { try body(converter.result) }
    }
}

extension SampleConverter {
    /// A converter of samples of some depth to what the settings' encoder takes, or to another form of them.
    static func open(
        _ input: SampleShape, _ depth: SampleDepth, for settings: EncodingSettings, as format: AVSampleFormat? = nil
    ) throws(MediaError) -> SampleConverter {
        var (input, output) = (input, settings.shape)
        if settings.relabels(input.layout) { input.layout = output.layout }
        if let format { output.format = format }
        return try open(input, to: output, bits: settings.reducedBits(from: depth))
    }
}
