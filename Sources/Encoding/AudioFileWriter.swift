package import Bytes
package import Decoding
import Demuxing
package import Filters
package import Libav
package import Lifecycle
package import MediaTypes
import Tags

/// Writes an output that is a single file of encoded audio.
package final class AudioFileWriter: RenditionWriter {
    private let store: any RandomAccessOutput
    private let settings: EncodingSettings
    private var writer: AssetWriter
    private var tags: TagWriter
    private let sound: AudioFilterChain?
    private let threads: ThreadBudget
    private let stop: CancellationFlag
    /// Whether the finished file is decoded to measure its loudness, because its codec changes the samples.
    private let isMeasured: Bool

    /// Opens the file and its encoder. `lowering` in dB reduces the level of an output that is encoded again.
    package init(
        _ store: any RandomAccessOutput, _ rendition: Rendition, _ reader: borrowing AssetReader, _ metadata: Metadata,
        _ measurement: SoundMeasurement?, lowering: Double = 0, threads: ThreadBudget, stop: CancellationFlag
    ) throws(MediaError) {
        self.store = store
        self.threads = threads
        self.stop = stop
        settings = try EncodingSettings.resolve(
            rendition, try rendition.sound.shape(of: reader.shape), reader.depth, expected: reader.expectedSeconds)
        isMeasured =
            rendition.sound.loudness != nil && measurement?.loudness?.integrated != nil
            && settings.codec.kind == .lossy
        sound = try AudioFilterChain.open(
            rendition.sound, reader.shape, reader.depth, settings, measurement, lowering: lowering,
            measuresFile: isMeasured)
        tags = TagWriter(
            metadata, rendition.tags, format: settings.format, codec: settings.codec, rate: settings.shape.rate,
            sourceRate: reader.shape.rate, layout: settings.shape.layout)
        writer = try AssetWriter.open(
            store, settings, input: sound?.output ?? reader.shape, depth: sound?.depth ?? reader.depth,
            tags: tags.header, threads: threads, stop: stop)
    }

    package func append(_ frame: borrowing Frame) throws(MediaError) {
        guard let sound else { return try writer.append(frame) }
        try sound.append(frame) { (changed: borrowing Frame) throws(MediaError) in try writer.append(changed) }
    }

    package func finish() throws(MediaError) -> ConversionResult {
        try sound?.finish { (rest: borrowing Frame) throws(MediaError) in try writer.append(rest) }
        try writer.finish()
        let samples = writer.written
        let (tally, padding) = (writer.tally, writer.padding)
        if tags.usesITunSMPB {
            let rest = padding.remainder(packets: tally.count, samples: samples)
            tags.setGapless(priming: Int64(padding.start), padding: rest, samples: samples)
        }
        try tags.finish(store)
        let bytes: Int64
        do {
            try GaplessPatch.apply(store, settings, padding, packets: tally.count, samples: samples)
            bytes = try store.length
        } catch {
            throw MediaError(.store(error), "complete the output", "the output could not be completed: \(error)")
        }
        let md5 = try OutputCheck.run(
            store, [OutputCheck(settings, samples: samples, written: tally)], stop: stop)
        let decoded = isMeasured ? try DecodedLoudness.of(store, threads: threads, stop: stop) : nil
        let excess = decoded.flatMap { sound?.take(decoded: $0) }
        var result = ConversionResult(
            settings, samples: samples, bytes: bytes,
            gapless: padding.gapless(settings, packets: tally.count, samples: samples), sound: sound,
            effective: settings.effective.merging(writer.effective) { $1 },
            warnings: settings.warnings + writer.warnings + tags.warnings)
        result.excess = excess
        result.encoders = writer.report
        result.audioMD5 = md5
        return result
    }
}
