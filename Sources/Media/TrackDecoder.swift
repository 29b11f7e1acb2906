import CLibav
import Lifecycle
import MediaTypes

/// Decodes one track of a source from packet to packet, and keeps account of what is missing.
struct TrackDecoder: ~Copyable {
    let demuxer: Demuxer
    private(set) var track: AudioTrack
    let source: any ByteSource
    let decoder: Decoder
    let packet = Packet()
    private var declared: DeclaredLength
    /// Frames given so far.
    private var given = 0
    /// The last samples to give where the container holds padding after them.
    private var remaining: Int64?
    var health = PacketHealth()
    var continuity: Continuity
    var lengths: DecodedLength
    /// Packets that were read and not yet decoded; their time stamps count samples.
    var ring = PacketRing()
    /// Whether the next frame is the first after a start that is not the source's.
    var isLate = false
    /// The sample that decoding began with.
    private(set) var start: Int64 = 0
    /// By how much time stamps are ahead of the count of samples, where they must agree with it.
    var granuleShift: Int64?
    /// Padding at the end that libav no longer finds.
    var endTrim: EndTrim?
    /// Where the first packet of the track lies.
    private(set) var firstOffset: Int64?
    /// Samples of the last packet handed to the decoder, if they can be told.
    private(set) var fed: Int?
    /// Packets handed to the decoder, and the samples of those that can be told.
    private(set) var fedInAll: (packets: Int64, samples: Int64) = (0, 0)

    private init(
        _ source: any ByteSource, _ demuxer: consuming Demuxer, _ track: AudioTrack, _ decoder: consuming Decoder
    ) {
        self.source = source
        self.track = track
        self.declared = DeclaredLength(source, demuxer, track)
        self.continuity = Continuity(demuxer, track)
        self.lengths = DecodedLength(demuxer.stream(track.index))
        self.demuxer = demuxer
        self.decoder = decoder
        self.remaining = declared.audible
    }

    static func open(_ source: any ByteSource, stop: StopFlag) throws(MediaError) -> TrackDecoder {
        let demuxer = try Demuxer.open(source, stop: stop)
        let track = try demuxer.selectAudio()
        try Protection.check(track)
        let decoder = try Decoder.open(demuxer.stream(track.index))
        return TrackDecoder(source, demuxer, track, decoder)
    }

    /// What a sample of this source is worth keeping; right once a frame was decoded.
    var depth: SampleDepth { decoder.depth }

    /// The length in seconds, unless it is unknown or a guess.
    var seconds: Double? { declared.seconds }

    /// The part of the source's bytes that is read.
    var byteFraction: Double { Double(demuxer.bytePosition) / Double(max(source.length, 1)) }

    /// Where in the source the last packet lies; negative if unknown.
    var packetOffset: Int64 { packet.offset }

    /// Stretches of bytes between frames that were no audio.
    var junk: Int { health.junk }

    /// Gives the next decoded samples; false at the end.
    mutating func next(into frame: borrowing Frame) throws(MediaError) -> Bool {
        do { return try decode(into: frame) } catch {
            throw try Truncation.explain(error, source, demuxer.formatName)
        }
    }

    private mutating func decode(into frame: borrowing Frame) throws(MediaError) -> Bool {
        while true {
            switch try decoder.receive(into: frame) {
            case .samples:
                try health.decoded()
                if Int(frame.pointer.pointee.sample_rate) != track.rate && given == 0 { correctRate(frame) }
                given += 1
                if isLate, let start = frame.timestamp {
                    remaining = declared.audible.map { max($0 - start, 0) }
                    self.start = start
                    isLate = false
                }
                guard trim(frame) else { continue }
                return true
            case .failed(let code): try health.failed(packet, code)
            case .end: return false
            case .needsPacket: try feed()
            }
        }
    }

    /// Counts in the decoder's sample rate, which the header of spectral band replication leaves out.
    private mutating func correctRate(_ frame: borrowing Frame) {
        track.rate = Int(frame.pointer.pointee.sample_rate)
        declared = DeclaredLength(source, demuxer, track)
        remaining = declared.audible
    }

    /// Cuts padding off that the container declares and libav leaves; false if nothing is left.
    private mutating func trim(_ frame: borrowing Frame) -> Bool {
        guard let left = remaining else { return frame.samples > 0 }
        let count = min(Int64(frame.samples), left)
        frame.keepFirst(Int(count))
        remaining = left - count
        return count > 0
    }

    /// Hands the decoder one more packet of the track, or the end.
    mutating func feed() throws(MediaError) {
        while true {
            if !ring.takeFirst(into: packet) {
                guard try readTrack() else { return decoder.sendEnd() }
                fed = lengths.samples(packet)
                fedInAll.packets += 1
                fedInAll.samples += Int64(fed ?? 0)
            }
            // A second link of a chained file: without this its first packet is blended with the last of the link before.
            if track.codec == AV_CODEC_ID_VORBIS, packet.bytes.starts(with: Self.vorbisHeader) { decoder.flush() }
            guard let code = decoder.send(packet) else { return }
            try health.failed(packet, code)
        }
    }

    /// How an identification header begins (Vorbis I, 4.2.1).
    private static let vorbisHeader = [1] + Array("vorbis".utf8)

    /// Reads the next packet of the track; false at the end of the source.
    mutating func readTrack() throws(MediaError) -> Bool {
        while true {
            packet.clear()
            guard try readPacket() else { return false }
            try continuity.read(packet)
            guard packet.streamIndex == track.index else { continue }
            try Protection.check(packet)
            health.read(packet, track)
            try endTrim?.mark(packet)
            if firstOffset == nil { firstOffset = packet.offset }
            return true
        }
    }

    private borrowing func readPacket() throws(MediaError) -> Bool {
        do { return try demuxer.next(into: packet) } catch {
            guard case .corruptMedia = error.reason, demuxer.bytePosition >= source.length else { throw error }
            throw Truncation.failure("it ends inside a packet")
        }
    }

    /// Fails unless the source, which has given its last sample, is as long as it says; `position` is that many samples.
    borrowing func checkEnd(position: Int64) throws(MediaError) {
        guard !source.isEndless else { return }
        if let truncation = try Truncation.found(source, demuxer.formatName) { throw truncation }
        try health.checkEnd(mayEndShort: declared.isExact || SourceEnd.uncompressed.contains(demuxer.formatName))
        try declared.check(position: position, packetTime: health.time)
        try continuity.checkEnd(seconds: declared.seconds, length: source.length)
    }
}
