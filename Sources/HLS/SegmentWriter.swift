import Bytes
import CLibav
import Demuxing
import Encoding
import Libav
import Lifecycle
import MediaTypes

/// An encoder and the segments of a media playlist that take its packets; each is looked at as a player will.
struct SegmentWriter: ~Copyable, FrameWriter {
    /// What the segments are, each once it is complete.
    private(set) var playlist: MediaPlaylist
    let padding: CodecPadding
    private let encoder: Encoder
    private let packet: Packet
    private let muxer: SegmentMuxer
    private let store: SegmentStore
    private let segments: SegmentSettings
    private let shape: SampleShape
    /// What players are to be told at the start.
    private let tag: TimedTag?
    private let parts: SegmentParts
    private let stop: CancellationFlag
    /// Samples given to the encoder.
    private var position: Int64 = 0
    /// The number of true samples, once it is known.
    private var length: Int64?
    /// The segment that is open: where it begins, where it has come to, and its packets.
    private var start: Int64?
    private var end: Int64 = 0
    private var packets = 0
    private var name: String
    private var setup: [UInt8] = []

    init(
        _ store: SegmentStore, _ settings: EncodingSettings, _ segments: SegmentSettings, tag: TimedTag?,
        parts: SegmentParts, stop: CancellationFlag
    ) throws(MediaError) {
        let encoder = try Encoder.open(settings, globalHeader: true)
        let packet = try Packet()
        var playlist = MediaPlaylist(segments, rate: settings.shape.rate)
        let isFragmented = segments.container == .fmp4
        let name = try store.begin(isFragmented ? parts.setup : parts.segment(0, segments.container))
        if isFragmented { playlist.setup = name }
        muxer = try SegmentMuxer.open(store, encoder, settings, segments.container, isTagged: tag != nil, stop: stop)
        padding = CodecPadding(encoder, settings)
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

    /// Samples that a decoder finds before the first and that no edit list hides.
    var delay: Int { segments.container == .fmp4 ? 0 : Int(encoder.context.pointee.initial_padding) }

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
                try muxer.write(tag, at: time, rate: shape.rate)
            }
            // An edit list tells where the audio begins; that it ends before its last frame does, only a duration can.
            if let length, segments.container == .fmp4, time < length {
                packet.pointer.pointee.duration = min(packet.pointer.pointee.duration, length - time)
            }
            end = time + packet.pointer.pointee.duration
            packets += 1
            try muxer.write(packet, rate: shape.rate)
        }
    }

    /// The first time that belongs to the next segment.
    private var boundary: Int64 {
        let count = Int64(playlist.segments.count + 1)
        let time = MediaTime(value: segments.duration.value * count, timescale: segments.duration.timescale)
        return time.sampleIndex(rate: shape.rate)
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
        guard let track = demuxer.tracks.first, track.channels == shape.channels || track.channels == 0 else {
            throw failure("holds no audio of \(shape.channels) channels")
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
