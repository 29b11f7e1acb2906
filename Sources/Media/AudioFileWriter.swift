import Lifecycle
import MediaTypes

/// An output that is one file of encoded audio.
final class AudioFileWriter: RenditionWriter {
    private let store: any ByteStore
    private let settings: EncodingSettings
    private var writer: AssetWriter
    private var tags: TagWriter
    private let stop: StopFlag

    init(
        _ store: any ByteStore, _ rendition: Rendition, _ reader: borrowing AssetReader, _ metadata: Metadata,
        stop: StopFlag
    ) throws(MediaError) {
        self.store = store
        self.stop = stop
        settings = try EncodingSettings.resolve(rendition, reader.shape, reader.depth)
        tags = TagWriter(
            metadata, rendition.tags, format: settings.format, codec: settings.codec, rate: settings.shape.rate,
            sourceRate: reader.shape.rate)
        writer = try AssetWriter.open(
            store, settings, input: reader.shape, depth: reader.depth, tags: tags.header, stop: stop)
    }

    func append(_ frame: borrowing Frame) throws(MediaError) { try writer.append(frame) }

    func finish() throws(MediaError) -> ConversionResult {
        try writer.finish()
        try tags.finish(store)
        let samples = writer.written
        try OutputCheck.run(store, settings, samples: samples, stop: stop)
        let bytes: Int64
        do { bytes = try store.length } catch {
            throw MediaError(.store(error), "measure the output", "the output could not be measured: \(error)")
        }
        let duration = MediaTime(sample: samples, rate: settings.shape.rate)
        return ConversionResult(
            format: settings.format.name, codec: settings.codec.name, duration: duration, seconds: duration.seconds,
            samples: samples, sampleRate: settings.shape.rate, channels: settings.shape.channels,
            bitRate: Int((Double(bytes) * 8 / duration.seconds).rounded()), bytes: bytes,
            gapless: .init(start: 0, end: 0), damage: .init(seconds: 0, events: 0), settings: settings.used,
            warnings: settings.warnings + tags.warnings)
    }
}
