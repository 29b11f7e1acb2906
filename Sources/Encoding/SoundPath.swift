package import Bytes
package import CLibav
package import Decoding
package import Filters
package import Libav
package import MediaTypes

/// Processes samples from a reader for an output: through the filter chain, then into the output's shape.
package final class SoundPath {
    /// The filter chain; `nil` if samples pass unchanged.
    package let chain: AudioFilterChain?
    private var converter: SampleConverter

    /// Makes a path to the encoder's shape, or to another sample format.
    package init(
        _ rendition: Rendition, _ reader: borrowing AssetReader, _ settings: EncodingSettings,
        as format: AVSampleFormat? = nil, _ measurement: SoundMeasurement?
    ) throws(MediaError) {
        let chain = try AudioFilterChain.open(rendition.sound, reader.shape, reader.depth, settings, measurement)
        self.chain = chain
        converter = try SampleConverter.open(
            chain?.output ?? reader.shape, chain?.depth ?? reader.depth, for: settings, as: format)
    }

    /// Passes the processed samples of a source frame to the body. The frame itself is not changed.
    package func append(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        guard let chain else { return try convert(frame, body) }
        try chain.append(frame) { (changed: borrowing Frame) throws(MediaError) in try convert(changed, body) }
    }

    /// The requested and the effective dither by job field name.
    package var effective: [String: Setting] { converter.effective }

    /// Warnings about the processed samples.
    package var warnings: [Warning] { converter.clipping.warnings }

    private func convert(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        if try converter.convert(frame) { try body(converter.result) } else { try body(frame) }
    }

    /// Flushes the remaining samples to the body.
    package func finish(_ body: FrameBody) throws(MediaError) {
        try chain?.finish { (rest: borrowing Frame) throws(MediaError) in try convert(rest, body) }
        while try converter.drain() { try body(converter.result) }
    }
}

extension SampleConverter {
    /// Opens a converter from samples of a depth to the encoder's shape, or to another sample format.
    static func open(
        _ input: SampleShape, _ depth: SampleDepth, for settings: EncodingSettings, as format: AVSampleFormat? = nil
    ) throws(MediaError) -> SampleConverter {
        var (input, output) = (input, settings.shape)
        if settings.relabels(input.layout) { input.layout = output.layout }
        if let format { output.format = format }
        let changes = input.rate != output.rate || !input.layout.equals(output.layout.pointer)
        return try open(
            input, depth, to: output, bits: settings.reducedBits(from: depth, changes: changes), dither: settings.dither
        )
    }
}
