import Lifecycle
import MediaTypes

/// An output that is a stream of segments: they come first, then their playlist, and last the master playlist.
final class HLSWriter: RenditionWriter {
    private let store: SegmentStore
    private let settings: EncodingSettings
    private let segments: SegmentSettings
    private let path: SoundPath
    /// What of the source's tags has no place in segments.
    private let dropped: [Warning]
    private var track: SegmentTrack

    init(
        _ stores: any OutputStores, output: Int, _ rendition: Rendition, _ reader: borrowing AssetReader,
        _ metadata: Metadata, _ measurement: SoundMeasurement?, stop: StopFlag
    ) throws(MediaError) {
        let settings = try EncodingSettings.resolve(
            rendition, try rendition.sound.shape(of: reader.shape), reader.depth)
        path = try SoundPath(rendition, reader, settings, measurement)
        self.settings = settings
        let tags = TagWriter(
            metadata, rendition.tags, format: settings.format, codec: settings.codec, rate: settings.shape.rate,
            sourceRate: reader.shape.rate)
        dropped = tags.warnings
        segments = rendition.segments
        store = SegmentStore(stores, output: output)
        track = try SegmentTrack.open(
            store, settings, segments, tag: TimedTag(tags.header.prefix), stop: stop)
    }

    func append(_ frame: borrowing Frame) throws(MediaError) {
        try path.append(frame) { (changed: borrowing Frame) throws(MediaError) in try track.encode(changed) }
    }

    func finish() throws(MediaError) -> ConversionResult {
        try path.finish { (rest: borrowing Frame) throws(MediaError) in try track.encode(rest) }
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
            gapless: Gapless(start: track.delay, end: max(extra, 0)), sound: path.chain, used: used,
            warnings: settings.warnings + dropped)
    }
}
