import Bytes
import Encoding
import Libav
import Lifecycle
import MediaTypes

/// One bit rate of a stream: its segments, and their playlist once they are complete.
final class HLSVariant {
    let settings: EncodingSettings
    let store: SegmentStore
    private let parts: SegmentParts
    private var track: TrackEncoder<SegmentWriter>

    init(
        _ stores: any OutputStores, output: Int, _ settings: EncodingSettings, _ segments: SegmentSettings,
        tag: TimedTag?, threads: ThreadBudget, stop: CancellationFlag
    ) throws(MediaError) {
        self.settings = settings
        store = SegmentStore(stores, output: output)
        parts = SegmentParts(bitRate: segments.bitRates.isEmpty ? nil : settings.bitRate)
        let output = try SegmentWriter(store, settings, segments, tag: tag, parts: parts, threads: threads, stop: stop)
        track = try TrackEncoder(output, settings.shape)
    }

    /// Samples of each channel so far.
    var samples: Int64 { track.written }

    /// The extra samples that a decoder returns at the start and the end, once all segments are complete.
    var gapless: Gapless {
        let extra = Int(track.output.playlist.samples - track.written) - track.output.delay
        return Gapless(start: track.output.delay, end: max(extra, 0))
    }

    /// How the variant was encoded.
    var report: SegmentReport? { track.output.report }

    func encode(_ frame: borrowing Frame) throws(MediaError) { try track.encode(frame) }

    /// Completes the last segment and writes the playlist. Returns the playlist and its name.
    func finish() throws(MediaError) -> (playlist: MediaPlaylist, name: String) {
        try track.finish()
        let name = try store.begin(parts.playlist)
        try store.append(track.output.playlist.text.utf8)
        _ = try store.end()
        return (track.output.playlist, name)
    }
}
