import Bytes
import CLibav
import Demuxing
import Encoders
import Encoding
import Libav
import Lifecycle
import MediaTypes

/// Encodes samples into the segments of a media playlist, and checks each segment as a player would read it.
struct SegmentWriter: ~Copyable, FrameWriter {
    /// The playlist of the completed segments.
    private(set) var playlist: MediaPlaylist
    let padding: CodecPadding
    private let encoder: ParallelEncoder
    private let packet: Packet
    private let muxer: SegmentMuxer
    private let store: SegmentStore
    private let segments: SegmentSettings
    private let shape: SampleShape
    /// The timed metadata at the start of the stream.
    private let tag: TimedTag?
    private let parts: SegmentParts
    private let stop: CancellationFlag
    /// Samples sent to the encoder.
    private var position: Int64 = 0
    /// The number of true samples, once known.
    private var length: Int64?
    /// The open segment: its start time, its end time so far, and its number of packets.
    private var start: Int64?
    private var end: Int64 = 0
    private var packets = 0
    private var name: String
    private var setup: [UInt8] = []

    init(
        _ store: SegmentStore, _ settings: EncodingSettings, _ segments: SegmentSettings, tag: TimedTag?,
        parts: SegmentParts, threads: ThreadBudget, stop: CancellationFlag
    ) throws(MediaError) {
        let encoder = try ParallelEncoder(settings, globalHeader: true, threads: threads, stop: stop)
        let packet = try Packet()
        var playlist = MediaPlaylist(segments, rate: settings.shape.rate)
        let isFragmented = segments.container == .fmp4
        let name = try store.begin(isFragmented ? parts.setup : parts.segment(0, segments.container))
        if isFragmented { playlist.setup = name }
        muxer = try SegmentMuxer.open(
            store, encoder.encoder, settings, segments.container, isTagged: tag != nil, stop: stop)
        padding = CodecPadding(encoder.encoder, settings)
        shape = settings.shape
        self.playlist = playlist
        self.encoder = encoder
        self.packet = packet
        self.store = store
        self.segments = segments
        self.tag = tag
        self.parts = parts
        self.stop = stop
        self.name = name
    }

    var frameSize: Int? { encoder.frameSize }

    /// How the variant was encoded.
    var report: SegmentReport? { encoder.report }

    /// The encoder delay in samples that no edit list removes.
    var delay: Int { segments.container == .fmp4 ? 0 : Int(encoder.encoder.context.pointee.initial_padding) }

    mutating func send(_ frame: borrowing Frame) throws(MediaError) {
        frame.pointer.pointee.pts = position
        position += Int64(frame.samples)
        try encoder.send(frame)
        try writePackets()
    }

    mutating func setLength(_ samples: Int64) { length = samples }

    /// Completes the last segment.
    mutating func finish() throws(MediaError) {
        try encoder.sendEnd()
        try writePackets()
        try close()
        try muxer.finish()
    }

    private mutating func writePackets() throws(MediaError) {
        while try encoder.receive(into: packet) {
            // FLAC's last packet is empty. It only carries the checksum for a header that is already written.
            guard packet.pointer.pointee.size > 0 else { continue }
            let time = packet.pointer.pointee.pts
            if let start, time >= boundary, time > start {
                try close()
                try beginSegment()
                muxer.repeatTables()
            }
            if start == nil { start = time }
            if playlist.segments.isEmpty, packets == 0, let tag {
                try muxer.write(tag, at: time, rate: shape.rate)
            }
            // An edit list defines where the audio begins. Only the last packet's duration can define that the audio ends
            // within it.
            if let length, segments.container == .fmp4, time < length {
                packet.pointer.pointee.duration = min(packet.pointer.pointee.duration, length - time)
            }
            end = time + packet.pointer.pointee.duration
            packets += 1
            try muxer.write(packet, rate: shape.rate)
        }
    }

    /// The start time of the next segment.
    private var boundary: Int64 {
        let count = Int64(playlist.segments.count + 1)
        let time = MediaTime(value: segments.duration.value * count, timescale: segments.duration.timescale)
        return time.sampleIndex(rate: shape.rate)
    }

    /// Completes the open segment and checks it.
    private mutating func close() throws(MediaError) {
        guard let start else { return }
        try muxer.flush()
        if segments.container == .fmp4, setup.isEmpty {
            setup = try read(store.source())
            _ = try store.end()
            try beginSegment()
            try muxer.flush()
        }
        try check(store.source())
        // Samples before the edit list's start are not part of the presentation.
        let first = segments.container == .fmp4 ? max(start, 0) : start
        playlist.append(.init(name: name, samples: end - first, bytes: try store.end()))
        (self.start, packets) = (nil, 0)
    }

    /// Opens the next segment. An MPEG-4 fragment begins with a segment type box (ISO 14496-12 section 8.16.2).
    private mutating func beginSegment() throws(MediaError) {
        name = try store.begin(parts.segment(playlist.segments.count, segments.container))
        guard segments.container == .fmp4 else { return }
        try store.append([0, 0, 0, 24] + "stypmsdh".utf8 + [0, 0, 0, 0] + "msdhmsix".utf8)
        if playlist.segments.isEmpty, let tag { try store.append(tag.eventMessage) }
    }

    private func read(_ source: any ByteSource) throws(MediaError) -> [UInt8] {
        do { return try SourceBytes(source).read(at: 0, Int(source.length)) ?? [] } catch {
            throw MediaError(.store(error), "check the segments", "a segment could not be read back: \(error)")
        }
    }

    /// Throws unless the segment contains every packet when read behind the initialization section.
    private func check(_ segment: any ByteSource) throws(MediaError) {
        let demuxer = try Demuxer.open(JoinedSource(setup, segment), as: segments.container.libavName, stop: stop)
        guard let track = demuxer.tracks.first, track.channels == shape.channels || track.channels == 0 else {
            throw failure("has no audio of \(shape.channels) channels")
        }
        let found = try Packet()
        var count = 0
        while try demuxer.next(into: found) {
            if found.streamIndex == track.index { count += 1 }
            found.clear()
        }
        guard count == packets else { throw failure("has \(count) packets, not \(packets)") }
    }

    private func failure(_ why: String) -> MediaError {
        MediaError(.internal, "check the segments", "a finished segment \(why)")
    }
}

/// A source with bytes prepended.
private final class JoinedSource: ByteSource {
    private let head: [UInt8]
    private let tail: any ByteSource

    init(_ head: [UInt8], _ tail: any ByteSource) {
        self.head = head
        self.tail = tail
    }

    var length: Int64 { Int64(head.count) + tail.length }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        guard offset < Int64(head.count) else { return try tail.read(into: buffer, at: offset - Int64(head.count)) }
        let part = head[Int(offset)...].prefix(buffer.count)
        buffer.copyBytes(from: part)
        return part.count
    }
}
