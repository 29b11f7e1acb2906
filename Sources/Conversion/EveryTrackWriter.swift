import Bytes
import CLibav
import Decoding
import Encoding
import Filters
import Libav
import Lifecycle
import MediaTypes
import Tags

/// Writes an output that contains every audio track of the source.
///
/// It receives the samples of the track that the conversion reads, and reads the other tracks itself up to the same time.
final class EveryTrackWriter: RenditionWriter {
    private let store: any RandomAccessOutput
    private let stop: CancellationFlag
    private let file: MuxedFile
    /// The track whose samples the conversion passes in.
    private let path: TrackPath
    private let siblings: [SiblingTrack]
    private var tags: TagWriter

    init(
        _ store: any RandomAccessOutput, _ rendition: Rendition, _ source: any ByteSource,
        _ sourceSettings: SourceSettings,
        _ reader: borrowing AssetReader, _ metadata: Metadata, stop: CancellationFlag
    ) throws(MediaError) {
        self.store = store
        self.stop = stop
        let settings = try EncodingSettings.resolve(
            rendition, try rendition.sound.shape(of: reader.shape), reader.depth)
        file = MuxedFile(try Muxer.open(store, settings, stop: stop))
        var path: TrackPath?
        var siblings: [SiblingTrack] = []
        for (index, label) in reader.labels.enumerated() {
            if label.index == reader.track.index {
                path = try TrackPath.add(index + 1, to: file, rendition, reader, label)
            } else {
                siblings.append(
                    try SiblingTrack(index + 1, rendition, source, sourceSettings, label, file, stop: stop))
            }
        }
        guard let path else { throw MediaError(.internal, "open the tracks", "the selected track has no number") }
        (self.path, self.siblings) = (path, siblings)
        tags = TagWriter(
            metadata, rendition.tags, format: settings.format, codec: settings.codec, rate: settings.shape.rate,
            sourceRate: reader.shape.rate)
        let rates = ([path] + siblings.map(\.path)).map(\.settings.shape.rate)
        try file.muxer.start(settings, rate: Self.commonRate(rates), tags: tags.header)
    }

    /// The least common multiple of the rates, if it fits in 31 bits; otherwise the highest rate.
    private static func commonRate(_ rates: [Int]) -> Int {
        var common = 1
        for rate in rates {
            common = common / Int(av_gcd(Int64(common), Int64(rate))) * rate
            if common > Int32.max { return rates.max()! }
        }
        return common
    }

    func append(_ frame: borrowing Frame) throws(MediaError) {
        do throws(MediaError) { try path.append(frame) } catch { throw error.of(track: path.number) }
        for sibling in siblings { try sibling.advance(to: path.seconds) }
    }

    func finish() throws(MediaError) -> ConversionResult {
        do throws(MediaError) { try path.finish() } catch { throw error.of(track: path.number) }
        try finishSiblings()
        try file.muxer.finish()
        try tags.finish(store)
        let paths = ([path] + siblings.map(\.path)).sorted { $0.number < $1.number }
        try OutputCheck.run(store, paths.map(\.check), stop: stop)
        let bytes = try store.measuredLength()
        return result(paths, bytes)
    }

    /// Encodes all other tracks to their ends in parallel, because the muxer buffers packets that are far ahead of other
    /// tracks.
    private func finishSiblings() throws(MediaError) {
        var running = siblings
        var seconds = path.seconds
        while !running.isEmpty {
            seconds += 0.5
            for sibling in running { try sibling.advance(to: seconds) }
            running.removeAll { $0.isFinished }
        }
    }

    /// The result. Its numbers are those of the longest track.
    private func result(_ paths: [TrackPath], _ bytes: Int64) -> ConversionResult {
        func length(_ path: TrackPath) -> MediaTime {
            MediaTime(sample: path.samples, rate: path.settings.shape.rate)
        }
        var longest = paths[0]
        for path in paths where length(path) > length(longest) { longest = path }
        var effective = longest.effective
        effective["tracks"] = Setting(requested: "all", effective: String(paths.count))
        var result = ConversionResult(
            longest.settings, samples: longest.samples, bytes: bytes, gapless: longest.gapless, effective: effective,
            warnings: paths.flatMap { path in path.warnings.map { $0.of(track: path.number) } }
                + siblings.flatMap(\.warnings) + tags.warnings)
        for sibling in siblings {
            result.damage.seconds += sibling.damage.seconds
            result.damage.events += sibling.damage.events
        }
        return result
    }
}
