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
    private let track: TrackPath
    private var tags: TagWriter
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
        let settings = try EncodingSettings.resolve(
            rendition, try rendition.sound.shape(of: reader.shape), reader.depth, expected: reader.expectedSeconds)
        isMeasured =
            rendition.sound.loudness != nil && measurement?.loudness?.integrated != nil
            && settings.codec.kind == .lossy
        tags = TagWriter(
            metadata, rendition.tags, format: settings.format, codec: settings.codec, rate: settings.shape.rate,
            sourceRate: reader.shape.rate, layout: settings.shape.layout)
        let sound = try SoundPath(
            rendition.sound, reader.shape, reader.depth, settings, measurement, lowering: lowering,
            measuresFile: isMeasured)
        track = try TrackPath.open(
            store, settings, sound, inputRate: reader.shape.rate, tags: tags.header, threads: threads, stop: stop)
    }

    package func append(_ frame: borrowing Frame) throws(MediaError) { try track.append(frame) }

    package func finish() throws(MediaError) -> ConversionResult {
        try track.finish()
        let (settings, samples) = (track.settings, track.samples)
        let (tally, padding) = (track.tally, track.padding)
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
        let md5 = try OutputCheck.run(store, [track.check], stop: stop)
        let decoded = isMeasured ? try DecodedLoudness.of(store, threads: threads, stop: stop) : nil
        let excess = decoded.flatMap { track.sound.take(decoded: $0) }
        var result = ConversionResult(
            settings, samples: samples, bytes: bytes,
            gapless: track.gapless, loudness: track.sound.loudness, effective: track.effective,
            warnings: track.warnings + tags.warnings)
        result.excess = excess
        result.encoders = track.report
        result.audioMD5 = md5
        return result
    }
}
