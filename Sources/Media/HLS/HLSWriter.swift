import Lifecycle
import MediaTypes

/// An output that is a stream of segments: they come first, then their playlist, and last the master playlist.
final class HLSWriter: RenditionWriter {
    private let store: SegmentStore
    private let settings: EncodingSettings
    private let segments: SegmentSettings
    private let sound: SoundChain?
    /// What of the source's tags has no place in segments.
    private let dropped: [Warning]
    private var converter: SampleConverter
    private var track: SegmentTrack

    init(
        _ stores: any OutputStores, output: Int, _ rendition: Rendition, _ reader: borrowing AssetReader,
        _ metadata: Metadata, _ measurement: SoundMeasurement?, stop: StopFlag
    ) throws(MediaError) {
        let settings = try EncodingSettings.resolve(
            rendition, try rendition.sound.shape(of: reader.shape), reader.depth)
        sound = try SoundChain.open(rendition.sound, reader.shape, reader.depth, settings, measurement)
        self.settings = settings
        dropped =
            TagWriter(
                metadata, rendition.tags, format: settings.format, codec: settings.codec, rate: settings.shape.rate,
                sourceRate: reader.shape.rate
            ).warnings
        segments = rendition.segments
        store = SegmentStore(stores, output: output)
        var input = sound?.output ?? reader.shape
        if settings.relabels(input.layout) { input.layout = settings.shape.layout }
        converter = try SampleConverter.open(
            input, to: settings.shape, bits: settings.reducedBits(from: sound?.depth ?? reader.depth))
        track = try SegmentTrack.open(store, settings, segments, stop: stop)
    }

    func append(_ frame: borrowing Frame) throws(MediaError) {
        guard let sound else { return try encode(frame) }
        try sound.append(frame) { (changed: borrowing Frame) throws(MediaError) in try encode(changed) }
    }

    private func encode(_ frame: borrowing Frame) throws(MediaError) {
        if try converter.convert(frame) {
            try track.encode(converter.result)
        } else {
            try track.encode(frame)
        }
    }

    func finish() throws(MediaError) -> ConversionResult {
        try sound?.finish { (rest: borrowing Frame) throws(MediaError) in try encode(rest) }
        while try converter.drain() { try track.encode(converter.result) }
        try track.finish()
        let playlist = track.playlist
        let name = try store.begin(SegmentParts.playlist)
        try store.append(playlist.text.utf8)
        _ = try store.end()
        try store.beginMain()
        try store.append(MasterPlaylist.text(playlist, named: name, settings.codec).utf8)
        _ = try store.end()
        return result(playlist)
    }

    private func result(_ playlist: MediaPlaylist) -> ConversionResult {
        let extra = Int(playlist.samples - track.written) - track.delay
        var used = settings.used
        used["segment_duration"] = Setting(used: segments.duration.description)
        used["segment_format"] = Setting(used: segments.container.rawValue)
        return ConversionResult(
            settings, samples: track.written, bytes: store.length,
            gapless: Gapless(start: track.delay, end: max(extra, 0)), sound: sound, used: used,
            warnings: settings.warnings + dropped)
    }
}
