import CLibav
import Lifecycle
import MediaTypes

/// Decodes one track of a source from packet to packet, and keeps account of what is missing.
struct TrackDecoder: ~Copyable {
    let demuxer: Demuxer
    private(set) var track: AudioTrack
    private let source: any ByteSource
    private let decoder: Decoder
    private let packet = Packet()
    private var declared: DeclaredLength
    /// Frames given so far.
    private var given = 0
    /// The last samples to give where the container holds padding after them.
    private var remaining: Int64?
    private var health = PacketHealth()
    private var continuity: Continuity

    private init(
        _ source: any ByteSource, _ demuxer: consuming Demuxer, _ track: AudioTrack, _ decoder: consuming Decoder
    ) {
        self.source = source
        self.track = track
        self.declared = DeclaredLength(source, demuxer, track)
        self.continuity = Continuity(demuxer, track)
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

    /// Stretches of bytes between frames that were no audio.
    var junk: Int { health.junk }

    /// Moves to a frame that begins at or before a sample, where its timestamp then counts samples without doubt.
    borrowing func seek(before sample: Int64) throws(MediaError) -> Bool {
        guard sample > Int64(track.rate), track.countsSamples, (track.startTime ?? 0) == 0 else { return false }
        let name = demuxer.formatName
        let isExact =
            track.isPCM
            ? ["wav", "w64", "aiff", "caf"].contains(name)
            : name == "flac" && track.codec == AV_CODEC_ID_FLAC
        guard isExact else { return false }
        return try demuxer.seek(to: sample, stream: track.index)
    }

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
    private mutating func feed() throws(MediaError) {
        while true {
            packet.clear()
            guard try readPacket() else { return decoder.sendEnd() }
            try continuity.read(packet)
            guard packet.streamIndex == track.index else { continue }
            try Protection.check(packet)
            health.read(packet, track)
            guard let code = decoder.send(packet) else { return }
            try health.failed(packet, code)
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
        if let truncation = try Truncation.found(source, demuxer.formatName) { throw truncation }
        try health.checkEnd(mayEndShort: declared.isExact || SourceEnd.uncompressed.contains(demuxer.formatName))
        try declared.check(position: position, packetTime: health.time)
        try continuity.checkEnd(seconds: declared.seconds, length: source.length)
    }
}
