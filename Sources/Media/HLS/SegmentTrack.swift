import CLibav
import Lifecycle
import MediaTypes

/// Encodes samples into the segments of one media playlist.
struct SegmentTrack: ~Copyable {
    private(set) var playlist: MediaPlaylist
    private let encoder: Encoder
    private let fifo: SampleFifo
    private let muxer: SegmentMuxer
    private let store: SegmentStore
    private let settings: EncodingSettings
    private let segments: SegmentSettings
    /// What players are to be told at the start.
    private let tag: TimedTag?
    private let parts: SegmentParts
    private let stop: StopFlag
    private let portion: Frame
    private let packet: Packet
    /// True samples so far.
    private(set) var written: Int64 = 0
    /// Samples given to the encoder.
    private var position: Int64 = 0
    private var isEnding = false
    /// The segment that is open: where it begins, where it has come to, and its packets.
    private var start: Int64?
    private var end: Int64 = 0
    private var packets = 0
    private var name: String
    private var setup: [UInt8] = []

    private init(
        _ playlist: MediaPlaylist, _ encoder: consuming Encoder, _ fifo: consuming SampleFifo,
        _ muxer: consuming SegmentMuxer, _ portion: consuming Frame, _ packet: consuming Packet, _ store: SegmentStore,
        _ settings: EncodingSettings,
        _ segments: SegmentSettings, _ tag: TimedTag?, _ parts: SegmentParts, name: String,
        stop: StopFlag
    ) {
        self.playlist = playlist
        self.name = name
        self.encoder = encoder
        self.fifo = fifo
        self.muxer = muxer
        self.portion = portion
        self.packet = packet
        self.store = store
        self.settings = settings
        self.segments = segments
        self.tag = tag
        self.parts = parts
        self.stop = stop
    }

    static func open(
        _ store: SegmentStore, _ settings: EncodingSettings, _ segments: SegmentSettings, tag: TimedTag?,
        parts: SegmentParts, stop: StopFlag
    ) throws(MediaError) -> SegmentTrack {
        let encoder = try Encoder.open(settings, globalHeader: true)
        let fifo = try SampleFifo.open(settings.shape, capacity: (encoder.frameSize ?? 0) * 2 + 1)
        var playlist = MediaPlaylist(segments, rate: settings.shape.rate)
        let isFragmented = segments.container == .fmp4
        let name = try store.begin(isFragmented ? parts.setup : parts.segment(0, segments.container))
        if isFragmented { playlist.setup = name }
        let muxer = try SegmentMuxer.open(
            store, encoder, settings, segments.container, isTagged: tag != nil, stop: stop)
        return SegmentTrack(
            playlist, encoder, fifo, muxer, try Frame(), try Packet(), store, settings, segments, tag, parts,
            name: name,
            stop: stop)
    }

    /// Samples that a decoder finds before the first and that no edit list hides.
    var delay: Int { segments.container == .fmp4 ? 0 : Int(encoder.context.pointee.initial_padding) }

    mutating func encode(_ frame: borrowing Frame) throws(MediaError) {
        guard frame.samples > 0 else { return }
        written += Int64(frame.samples)
        guard encoder.frameSize != nil else { return try send(frame) }
        try fifo.append(frame)
        try sendWholeFrames()
    }

    mutating func finish() throws(MediaError) {
        isEnding = true
        let tail = CodecPadding(encoder, settings).tail
        if tail > 0 {
            try portion.reserve(tail, settings.shape)
            portion.silence(settings.shape)
            try fifo.append(portion)
            try sendWholeFrames()
        }
        if fifo.count > 0 {
            try fifo.take(fifo.count, into: portion)
            try sendPortion()
        }
        try encoder.sendEnd()
        try takePackets()
        try close()
        try muxer.finish()
    }

    private mutating func sendWholeFrames() throws(MediaError) {
        guard let size = encoder.frameSize else { return }
        while fifo.count >= size {
            try fifo.take(size, into: portion)
            try sendPortion()
        }
    }

    private mutating func sendPortion() throws(MediaError) {
        portion.pointer.pointee.pts = position
        position += Int64(portion.samples)
        try encoder.send(portion)
        try takePackets()
    }

    private mutating func send(_ frame: borrowing Frame) throws(MediaError) {
        frame.pointer.pointee.pts = position
        position += Int64(frame.samples)
        try encoder.send(frame)
        try takePackets()
    }

    private mutating func takePackets() throws(MediaError) {
        while try encoder.receive(into: packet) {
            // FLAC's last packet is empty: it holds a sum for a header that is written by then.
            guard packet.pointer.pointee.size > 0 else { continue }
            let time = packet.pointer.pointee.pts
            if let start, time >= boundary, time > start {
                try close()
                try beginSegment()
                muxer.repeatTables()
            }
            if start == nil { start = time }
            if playlist.segments.isEmpty, packets == 0, let tag {
                try muxer.write(tag, at: time, rate: settings.shape.rate)
            }
            // An edit list tells where the audio begins; that it ends before its last frame does, only a duration can.
            if isEnding, segments.container == .fmp4, time < written {
                packet.pointer.pointee.duration = min(packet.pointer.pointee.duration, written - time)
            }
            end = time + packet.pointer.pointee.duration
            packets += 1
            try muxer.write(packet, rate: settings.shape.rate)
        }
    }

    /// The first time that belongs to the next segment.
    private var boundary: Int64 {
        let count = Int64(playlist.segments.count + 1)
        let time = MediaTime(value: segments.duration.value * count, timescale: segments.duration.timescale)
        return time.sampleIndex(rate: settings.shape.rate)
    }

    /// Ends the open segment, and looks at it as a player will.
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
        // What an edit list hides is no part of the presentation.
        let first = segments.container == .fmp4 ? max(start, 0) : start
        playlist.append(.init(name: name, samples: end - first, bytes: try store.end()))
        (self.start, packets) = (nil, 0)
    }

    /// Begins the next segment; a fragment with the box that says that it is one (ISO 14496-12 section 8.16.2).
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

    /// Fails unless the segment, behind the initialization section, holds every packet.
    private func check(_ segment: any ByteSource) throws(MediaError) {
        let name = segments.container == .fmp4 ? "mp4" : "mpegts"
        let demuxer = try Demuxer.open(JoinedSource(setup, segment), as: name, stop: stop)
        guard let track = demuxer.tracks.first, track.channels == settings.shape.channels || track.channels == 0 else {
            throw failure("holds no audio of \(settings.shape.channels) channels")
        }
        let found = try Packet()
        var count = 0
        while try demuxer.next(into: found) {
            if found.streamIndex == track.index { count += 1 }
            found.clear()
        }
        guard count == packets else { throw failure("holds \(count) packets, not \(packets)") }
    }

    private func failure(_ why: String) -> MediaError {
        MediaError(.internal, "check the segments", "a finished segment \(why)")
    }
}

/// Some bytes in front of a source.
final class JoinedSource: ByteSource {
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
