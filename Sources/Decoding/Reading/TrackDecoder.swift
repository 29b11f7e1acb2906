import Bytes
import CLibav
import Demuxing
import Libav
import Lifecycle
import MediaTypes

/// Decodes one track of a source from packet to packet, and keeps account of what is missing.
struct TrackDecoder: ~Copyable {
    let demuxer: Demuxer
    private(set) var track: AudioTrack
    let source: any ByteSource
    let decoder: Decoder
    let packet: Packet
    private(set) var declared: DeclaredLength
    /// Frames given so far.
    private var given = 0
    /// The last samples to give where the container holds padding after them.
    private var remaining: Int64?
    /// The samples still to come before the first to be heard.
    private var lead: Int64
    var health = PacketHealth()
    var continuity: Continuity
    var lengths: PacketSamples
    /// Packets that were read and not yet decoded; their time stamps count samples.
    var ring = PacketRing()
    /// The headers of the link of chained Vorbis that those packets are of, if it is not the first.
    var link = PacketRing()
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
    /// Whether the packet in hand comes from the ring, and so tells samples and not the container's time.
    private var isCounted = false
    var lost: LostSound
    private var silence: FilledSilence
    private var chunks = ChunkIndex()
    var pages = OggPages()
    private var vorbisPage: VorbisPage
    var offsets = TransportOffsets()
    /// Samples of the source up to the last one given.
    private var count: Int64 = 0
    private let policy: DamagePolicy
    private let limits: SourceLimits
    /// What a person should know of a source that was taken as it is.
    private(set) var warnings: [Warning] = []
    /// Why the container could not be read on, where that ended the source.
    private(set) var breakage: MediaError?
    let xing: XingHeader?
    private var isEnded = false
    /// Whether bytes that are no audio follow all the audio that there should be.
    private(set) var endsInJunk = false
    /// Whether they are the beginning of something that belongs to the file.
    private var endsInPart = false

    private init(
        _ source: any ByteSource, _ demuxer: consuming Demuxer, _ track: AudioTrack, _ decoder: consuming Decoder,
        _ packet: consuming Packet, _ silence: consuming FilledSilence, _ settings: SourceSettings
    ) {
        self.source = source
        policy = settings.damage
        limits = settings.limits
        self.track = track
        self.declared = DeclaredLength(source, demuxer, track)
        self.continuity = Continuity(demuxer, track)
        self.lengths = PacketSamples(demuxer.stream(track.index))
        self.lost = LostSound(source, demuxer.formatName, track)
        self.vorbisPage = VorbisPage(source, demuxer.stream(track.index))
        // What cannot be read here cannot be decoded either, which is told there.
        self.xing = demuxer.formatName == "mp3" ? try? XingHeader(source) : nil
        if let xing {
            health.expectAudio()
            lost.expect(xing)
        }
        self.demuxer = demuxer
        self.decoder = decoder
        self.packet = packet
        self.silence = silence
        self.remaining = declared.audible
        self.lead = declared.lead
    }

    static func open(
        _ source: any ByteSource, _ settings: SourceSettings = .init(), stop: StopFlag
    ) throws(MediaError) -> TrackDecoder {
        let demuxer = try Demuxer.open(source, stop: stop)
        try settings.limits.check(demuxer)
        let track = try demuxer.selectAudio(settings.track)
        try Protection.check(track)
        let decoder = try Decoder.open(demuxer.stream(track.index), drc: settings.drc)
        let bytes = demuxer.bytes
        return TrackDecoder(bytes, demuxer, track, decoder, try Packet(), try FilledSilence(), settings)
    }

    /// What a sample of this source is worth keeping; right once a frame was decoded.
    var depth: SampleDepth { decoder.depth }

    /// The length in seconds, unless it is unknown or a guess.
    var seconds: Double? { declared.seconds }

    /// The part of the source's bytes that is read.
    var byteFraction: Double { demuxer.byteFraction }

    /// Where in the source the last packet lies; negative if unknown.
    var packetOffset: Int64 { packet.offset }

    /// Stretches of bytes between frames that were no audio.
    var junk: Int { health.junk + (endsInJunk && !endsInPart ? 1 : 0) }

    /// Packets that were refused without any time being lost.
    var silentEvents: Int { lost.silentEvents - (isEnded && isCutInFrame ? lost.eventsAtEnd : 0) }

    /// Gives the next decoded samples; false at the end.
    mutating func next(into frame: borrowing Frame) throws(MediaError) -> Bool {
        do { return try decode(into: frame) } catch {
            throw try Truncation.explain(error, source, demuxer.formatName)
        }
    }

    private mutating func decode(into frame: borrowing Frame) throws(MediaError) -> Bool {
        while true {
            if try silence.next(into: frame) {
                guard try trim(frame) else { continue }
                return true
            }
            switch try decoder.receive(into: frame) {
            case .samples:
                frame.isLost = false
                health.decoded()
                if Int(frame.pointer.pointee.sample_rate) != track.rate && given == 0 { correctRate(frame) }
                given += 1
                if isLate, let start = frame.timestamp {
                    remaining = declared.audible.map { max($0 - start, 0) }
                    self.start = start
                    count = start
                    isLate = false
                }
                let missing = try missing(before: frame)
                if missing > 0 {
                    try silence.precede(frame, missing)
                    continue
                }
                guard try trim(frame) else { continue }
                return true
            case .failed(let code): if health.failed(packet, code) { lost.refused(packet) }
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

    /// Cuts delay and padding off that the container declares and libav leaves; false if nothing is left.
    private mutating func trim(_ frame: borrowing Frame) throws(MediaError) -> Bool {
        if lead > 0 { lead -= try frame.drop(atMost: lead) }
        if let left = remaining {
            frame.keepFirst(Int(min(Int64(frame.samples), left)))
            remaining = left - Int64(frame.samples)
        }
        count += Int64(frame.samples)
        return frame.samples > 0
    }

    /// Samples that are lost before a frame, which came of the packet in hand.
    private mutating func missing(before frame: borrowing Frame) throws(MediaError) -> Int64 {
        if health.isInterrupted {
            // Chance bytes may look like a frame, behind the last one above all.
            guard try FrameChain.isReal(packet, source, demuxer.formatName, track.codec) else { return 0 }
            health.resume()
            lost.suspect()
        }
        defer { limitToHeader() }
        return lost.before(frame, packet, isTimed: !isCounted) {
            guard demuxer.formatName == "avi" else { return pages.takeBreak() }
            return !ChunkIndex.isOvercounted(packet, demuxer.stream(track.index))
        }
    }

    /// Ends the sound of a damaged MP3 file where its header says: libav does not find the padding behind a gap.
    private mutating func limitToHeader() {
        guard lost.hasFound, remaining == nil, let audible = xing?.audible, let end = xing?.end,
            // Earlier nothing tells whether the header is right.
            (0..<65_536).contains(source.length - end), packet.offset > end - 4096,
            lost.allows(audible - count, end: end)
        else { return }
        remaining = max(audible - count, 0)
    }

    /// Hands the decoder one more packet of the track, or the end.
    mutating func feed() throws(MediaError) {
        while true {
            isCounted = ring.takeFirst(into: packet)
            if !isCounted {
                guard try readTrack() else { return decoder.sendEnd() }
                fed = lengths.samples(packet)
                fedInAll.packets += 1
                fedInAll.samples += Int64(fed ?? 0)
                try limits.check(packets: fedInAll.packets, samples: count - start, rate: track.rate)
            }
            // A second link of a chained file: without this its first packet is blended with the last of the link before.
            if beginsLink { decoder.flush() }
            // The decoder of GSM takes any bytes for sound.
            let isSound = track.codec != AV_CODEC_ID_GSM || FrameHeader.isMarked(track.codec, packet.bytes) ?? true
            guard let code = isSound ? decoder.send(packet) : .invalidData else { return }
            if health.failed(packet, code) { lost.refused(packet) }
        }
    }

    /// Whether the packet is the first of a stream in Ogg, of which a chained file has several.
    private var beginsLink: Bool {
        // Of the delay of Opus libav tells there alone.
        beginsVorbisLink
            || track.codec == AV_CODEC_ID_OPUS && demuxer.formatName == "ogg" && (packet.trimming?.skip ?? 0) > 0
    }

    /// Reads the next packet of the track; false at the end of the source.
    mutating func readTrack() throws(MediaError) -> Bool {
        // Of other tracks, in a row.
        var others: Int64 = 0
        while true {
            packet.clear()
            guard try readPacket() else { return false }
            if let skipped = continuity.read(packet, position: demuxer.bytePosition) { lost.suspect(bytes: skipped) }
            guard packet.streamIndex == track.index else {
                others += 1
                try limits.check(packets: others, samples: 0, rate: track.rate)
                continue
            }
            try locate()
            try Protection.check(packet)
            dropJunk()
            health.read(packet, track)
            lost.read(packet)
            guard isToDecode() else { continue }
            try endTrim?.mark(packet)
            if firstOffset == nil { firstOffset = packet.offset }
            return true
        }
    }

    /// Mends or checks what libav says of the packet's place, in containers in which that shows a gap.
    private mutating func locate() throws(MediaError) {
        switch demuxer.formatName {
        case "avi": chunks.correct(packet, demuxer.stream(track.index))
        case "ogg":
            try pages.read(packet, source)
            if track.codec == AV_CODEC_ID_VORBIS { try vorbisPage.mend(packet) }
        // The place is looked for far ahead, and what a stream without an end brings comes only once.
        case "aac" where !source.isEndless: offsets.correct(packet, position: demuxer.bytePosition, source)
        default: break
        }
    }

    /// Reads on behind what the container cannot make sense of, as far as it can.
    private mutating func readPacket() throws(MediaError) -> Bool {
        var failedAt: Int64 = -1
        while true {
            do {
                guard try demuxer.next(into: packet) else { return false }
                if failedAt >= 0 { lost.suspect() }
                return true
            } catch {
                guard case .corruptMedia = error.reason else { throw error }
                let position = demuxer.bytePosition
                if given > 0, position > failedAt, position < source.length, try demuxer.resume(source) {
                    failedAt = position
                    continue
                }
                breakage =
                    position >= source.length
                    ? Truncation.failure("it ends inside a packet")
                    : try Truncation.explain(error, source, demuxer.formatName)
                return false
            }
        }
    }

    /// How many samples are missing between the last one, before which there are `position`, and the end; they come next,
    /// as silence.
    ///
    /// Fails if the source is cut short, unless that is accepted.
    mutating func fillEnd(position: Int64, _ shape: SampleShape) throws(MediaError) -> Int64 {
        guard !isEnded, !source.isEndless else { return 0 }
        isEnded = true
        endsInJunk = try hasJunkBehind(position)
        endsInPart = endsInJunk && JunkTail.isPartOfFile(from: lost.frameEnd, of: source, demuxer.formatName)
        if endsInPart {
            let sentence = "the source is cut short behind its last sample; nothing of its sound is missing"
            warnings.append(Warning(.sourceTruncated, sentence))
        }
        if let truncation = try truncation(position) {
            guard policy == .accept else { throw truncation }
            warnings.append(Warning(.sourceTruncated, "\(truncation.sentence); the result ends there"))
            return 0
        }
        if let warning = try endWarning() { warnings.append(warning) }
        var missing = endsInJunk || endsInFrame ? 0 : lost.behind(rate: shape.rate)
        if let seconds = continuity.missing(seconds: declared.seconds, length: source.length) {
            missing = max(missing, Int64(seconds * Double(shape.rate)))
        }
        // Where nothing was lost on the way, a few samples less than promised are the encoder's.
        if lost.hasFound || health.isInterrupted,
            let whole = xing?.audible ?? toldEnd(position, rate: shape.rate)
                ?? (declared.isExact ? declared.least : nil)
        {
            let isBelieved = xing.map { lost.allows(whole - position, end: $0.end ?? source.length) } ?? true
            if isBelieved { missing = max(whole - position, 0) } else { warn(promised: whole - position, shape) }
        }
        if demuxer.formatName == "ogg" { missing = try max(missing, missingPages(position, rate: shape.rate)) }
        missing = min(max(missing, 0), Int64(1) << 55)
        if policy == .accept, missing > max(position, Int64(60 * shape.rate)) {
            warn(promised: missing, shape)
            return 0
        }
        silence.follow(missing, shape)
        return missing
    }

    private mutating func warn(promised samples: Int64, _ shape: SampleShape) {
        guard samples > 0 else { return }
        let seconds = MediaTime(value: samples / Int64(shape.rate), timescale: 1).text
        let sentence =
            "the source's headers promise \(seconds) s more than could be decoded; the result ends without them"
        warnings.append(Warning(.sourceTruncated, sentence))
    }

    /// Where the sound ends by a container that tells it, and no further than packets came: one that was cut may still tell
    /// the length that it had.
    private func toldEnd(_ position: Int64, rate: Int) -> Int64? {
        guard let remaining else { return nil }
        let packets = av_rescale_q(health.time, track.timeBase, AVRational(num: 1, den: CInt(rate)))
        return min(position + remaining, max(packets, position))
    }
}
