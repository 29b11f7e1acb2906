import Bytes
import CLibav
import Containers
import Demuxing
import Libav
import Lifecycle
import MediaTypes

/// Decodes the packets of one track of a source, and records what is missing.
///
/// A class, because the compiler takes seconds for each function that uses a noncopyable structure of so many fields.
final class TrackDecoder {
    let demuxer: Demuxer
    private(set) var track: AudioTrack
    let source: any ByteSource
    private(set) var decoder: Decoder
    let packet: Packet
    private(set) var declared: DeclaredLength
    var health = PacketHealth()
    var continuity: Continuity
    var lengths: PacketSamples
    var bounds: SampleBounds
    var held = HeldPackets()
    private(set) var fed = FedPackets()
    /// The offset of the track's first packet.
    private(set) var firstOffset: Int64?
    var lost: GapEstimator
    var places: PacketPlaces
    var silence: FilledSilence
    var end = FoundEnd()
    let xing: XingHeader?
    let policy: DamagePolicy
    private let limits: SourceLimits
    private let threads: ThreadBudget
    /// Decodes packets of a long source on other threads.
    private var ahead: DecodeAhead?
    /// Whether that has not been tried yet.
    private var mayLookAhead = true
    private var linkHeaders = LinkHeaders()
    /// The samples of the current packet, if another thread has decoded it, or if it is a pause.
    private let decoded: Frame
    private var isDecodedAhead = false
    /// Plays the parts of an edit list that has several.
    private var edits: EditPlayer?
    private let drc: Double?

    private init(
        _ source: any ByteSource, _ demuxer: consuming Demuxer, _ track: AudioTrack, _ decoder: consuming Decoder,
        _ packet: consuming Packet, _ silence: consuming FilledSilence, _ decoded: consuming Frame,
        _ settings: SourceSettings, _ threads: ThreadBudget
    ) throws(MediaError) {
        self.source = source
        self.decoded = decoded
        policy = settings.damage
        limits = settings.limits
        self.threads = threads
        self.track = track
        self.declared = DeclaredLength(source, demuxer, track)
        self.continuity = Continuity(demuxer, track)
        self.lengths = PacketSamples(demuxer.stream(track.index))
        self.lost = GapEstimator(source, demuxer.descriptor, track)
        self.places = PacketPlaces(source, demuxer.stream(track.index), demuxer.descriptor.places)
        // A read error here is reported by the decoder.
        self.xing = demuxer.descriptor.padding == .lameTag ? try? XingHeader(source) : nil
        if let xing {
            health.expectAudio()
            lost.expect(xing)
        }
        self.demuxer = demuxer
        self.decoder = decoder
        self.packet = packet
        self.silence = silence
        self.bounds = SampleBounds(declared)
        drc = settings.drc
        mayLookAhead = declared.parts == nil
        edits = try declared.parts.map { parts throws(MediaError) in try EditPlayer(parts) }
    }

    static func open(
        _ source: any ByteSource, _ settings: SourceSettings = .init(), threads: ThreadBudget = .one,
        stop: CancellationFlag
    ) throws(MediaError) -> TrackDecoder {
        let demuxer = try Demuxer.open(source, stop: stop)
        try settings.limits.check(demuxer)
        let track = try demuxer.selectAudio(settings.track)
        try Protection.check(demuxer, track)
        let decoder = try Decoder.open(demuxer, track, drc: settings.drc)
        let bytes = demuxer.bytes
        return try TrackDecoder(
            bytes, demuxer, track, decoder, try Packet(), try FilledSilence(), try Frame(), settings, threads)
    }

    /// The depth of the source's samples, known once a frame is decoded.
    var depth: SampleDepth { decoder.depth }

    /// The duration in seconds; `nil` if it is unknown or an estimate.
    var seconds: Double? { declared.seconds }

    /// The fraction of the source's bytes that has been read.
    var byteFraction: Double { Double(bytePosition) / Double(max(source.length, 1)) }

    /// The offset at which the demuxer read next after the current packet.
    var bytePosition: Int64 { ahead?.position ?? demuxer.bytePosition }

    /// The number of packets that were decoded ahead.
    var packetsAhead: Int { ahead?.count ?? 0 }

    /// The offset of the last packet in the source; negative if unknown.
    var packetOffset: Int64 { packet.offset }

    /// The number of byte ranges that were not audio.
    var junk: Int { health.junk + demuxer.tagsBetweenFrames + (end.isJunk && !end.isPart && !end.isTag ? 1 : 0) }

    /// The number of refused packets without lost time.
    var silentEvents: Int { lost.silentEvents - (end.isKnown && isCutInFrame ? lost.eventsAtEnd : 0) }

    /// Returns the next decoded samples; `false` at the end.
    func next(into frame: borrowing Frame) throws(MediaError) -> Bool {
        do { return try decode(into: frame) } catch {
            throw try Truncation.explain(error, source, demuxer.descriptor)
        }
    }

    private func decode(into frame: borrowing Frame) throws(MediaError) -> Bool {
        while true {
            if try silence.next(into: frame) {
                guard try deliver(frame) else { continue }
                return true
            }
            switch try edits?.next(into: frame) {
            case .samples: if try bounds.trim(frame) { return true } else { continue }
            case .rewind:
                try rewind()
                continue
            case .end: return false
            case .needsSamples, nil: break
            }
            switch try receive(into: frame) {
            case .samples:
                frame.isLost = false
                health.decoded()
                if frame.rate != track.rate && !bounds.hasBegun { try correctRate(frame) }
                bounds.begin(frame, declared)
                let missing = try missing(before: frame)
                if missing > 0 {
                    try silence.precede(frame, missing)
                    continue
                }
                guard try deliver(frame) else { continue }
                return true
            case .failed(let code): if health.failed(packet, code) { lost.refused(packet) }
            case .end:
                guard let edits else { return false }
                edits.endMedia()
            case .needsPacket: try feed()
            }
        }
    }

    /// Trims decoded samples, or gives them to the edit list; returns whether the frame has samples to return.
    private func deliver(_ frame: borrowing Frame) throws(MediaError) -> Bool {
        guard let edits else { return try bounds.trim(frame) }
        try edits.add(frame)
        return false
    }

    /// Decodes the media again from its start, for an edit of what was played already.
    private func rewind() throws(MediaError) {
        try edits?.rewind()
        let stream = demuxer.stream(track.index)
        guard let first = avformat_index_get_entry(stream, 0)?.pointee.timestamp,
            try demuxer.seek(to: first, stream: track.index)
        else {
            throw MediaError(.corruptMedia, "read the source", "the source's first sample cannot be read again")
        }
        decoder = try Decoder.open(demuxer, track, drc: drc)
        lost.restart()
        places.restart()
    }

    /// Receives the samples of the current packet, which another thread may have decoded.
    private func receive(into frame: borrowing Frame) throws(MediaError) -> Decoder.Answer {
        if isDecodedAhead {
            isDecodedAhead = false
            frame.take(decoded)
            return .samples
        }
        let answer = try decoder.receive(into: frame)
        switch answer {
        case .samples:
            ahead?.observe(frame)
            lookAhead(from: frame)
        case .failed: ahead?.stop()
        case .needsPacket, .end: break
        }
        return answer
    }

    /// Starts to decode on other threads behind the first packets, which are all that a short source has.
    private func lookAhead(from frame: borrowing Frame) {
        guard mayLookAhead, fed.count >= Self.packetsBeforeThreads, threads.hasSpare else { return }
        mayLookAhead = false
        guard !source.isEndless, packet.hasNoSideData, let plan = DecodePlan(track, depth) else { return }
        // If it cannot be opened, one decoder decodes everything.
        ahead = try? DecodeAhead(demuxer, track, plan, similarTo: frame, threads: threads)
    }

    private static let packetsBeforeThreads = 128

    /// Uses the decoder's sample rate. With spectral band replication, the header may only declare half of it.
    private func correctRate(_ frame: borrowing Frame) throws(MediaError) {
        track.rate = frame.rate
        demuxer.correct(rate: frame.rate, of: track.index)
        declared = DeclaredLength(source, demuxer, track)
        bounds.correct(declared)
        edits = try declared.parts.map { parts throws(MediaError) in try EditPlayer(parts) }
    }

    /// The number of samples lost before a frame, which was decoded from the current packet.
    private func missing(before frame: borrowing Frame) throws(MediaError) -> Int64 {
        if health.isInterrupted {
            // Random bytes may look like a frame, especially after the last one.
            guard try FrameChain.isReal(packet, source, demuxer.descriptor.framing, track.codec) else { return 0 }
            health.resume()
            lost.suspect()
        }
        defer { limitToHeader() }
        return lost.before(frame, packet, isTimed: !held.isInHand) { places.showLoss(before: packet) }
    }

    /// Ends the audio of a damaged MP3 file where its header declares, because libav does not apply the padding after a gap.
    private func limitToHeader() {
        guard lost.hasFound, bounds.remaining == nil, let audible = xing?.audible, let end = xing?.end,
            // Further from the end, the header cannot be verified.
            (0..<65_536).contains(source.length - end), packet.offset > end - 4096,
            lost.allows(audible - bounds.count, end: end)
        else { return }
        bounds.end(at: audible)
    }

    /// Sends another packet of the track, or the end of the stream, to the decoder.
    func feed() throws(MediaError) {
        while true {
            if !held.takeFirst(into: packet) {
                guard try readTrack() else { return decoder.sendEnd() }
                fed.add(samples: lengths.samples(packet))
                try limits.check(packets: fed.count, samples: bounds.count - bounds.start, rate: track.rate)
            }
            // The start of another link of a chained file. Without a flush, its first packet would be overlapped with the last
            // one of the previous link.
            if beginsLink { decoder.flush() }
            // The GSM decoder decodes any bytes.
            let isSound = track.codec != AV_CODEC_ID_GSM || FrameHeader.isMarked(track.codec, packet.bytes) ?? true
            if let ahead, try ahead.take(packet, into: decoded, orPrepare: decoder) {
                isDecodedAhead = true
                return
            }
            if let count = SpeechPause.samples(track.codec, packet.bytes) { return try pause(count) }
            guard let code = isSound ? decoder.send(packet) : .invalidData else { return }
            ahead?.stop()
            if health.failed(packet, code) { lost.refused(packet) }
        }
    }

    /// Takes silence for the samples of the current packet.
    private func pause(_ count: Int) throws(MediaError) {
        let shape = try decoder.shape
        try decoded.reserve(count, shape)
        decoded.silence(shape)
        decoded.pointer.pointee.pts = packet.pointer.pointee.pts
        isDecodedAhead = true
    }

    /// Whether the packet is the first one of an Ogg stream. A chained file has several.
    private var beginsLink: Bool {
        // For Opus, libav only sets the delay on the first packet of a stream.
        beginsVorbisLink
            || track.codec == AV_CODEC_ID_OPUS && demuxer.descriptor.padding == .granules
                && (packet.trimming?.skip ?? 0) > 0
    }

    /// Reads the next packet of the track; returns `false` at the end of the source.
    func readTrack() throws(MediaError) -> Bool {
        // Consecutive packets of other tracks.
        var others: Int64 = 0
        while true {
            packet.clear()
            guard try readPacket() else { return false }
            let loss = try continuity.read(packet, position: bytePosition)
            if let loss { lost.suspect(bytes: loss.bytes) }
            guard packet.streamIndex == track.index else {
                others += 1
                try limits.check(packets: others, samples: 0, rate: track.rate)
                continue
            }
            if let start = try places.correct(packet, position: bytePosition) ?? loss?.start {
                lost.expect(start: start)
                // The delay of the decoder is lost, too.
                if let discard = packet.trimming?.discard { try packet.trim(skip: 0, discard: discard) }
            }
            lost.skipped(bytes: places.takeSkipped())
            if packet.followsGap { lost.suspect() }
            try Protection.check(packet)
            try repairLast()
            guard !isPadding else { continue }
            if hasPages, linkHeaders.include(packet.bytes, track.codec) {
                others += 1
                try limits.check(packets: others, samples: 0, rate: track.rate)
                enterFlacLink()
                continue
            }
            health.read(packet, track)
            try cutJunk()
            lost.read(packet)
            guard try isToDecode() else { continue }
            if firstOffset == nil { firstOffset = packet.offset }
            return true
        }
    }

    /// Opens a decoder for a later FLAC link, if the current packet is its first header, and not that of the link before. That one's
    /// decoder would refuse longer blocks, and samples of another rate or depth. With a damaged header, it goes on.
    private func enterFlacLink() {
        guard track.codec == AV_CODEC_ID_FLAC, let header = LinkHeaders.flacProperties(packet.bytes),
            !decoder.hasHeader(header)
        else { return }
        ahead?.stop()
        mayLookAhead = false
        if let opened = try? Decoder.open(demuxer, track, drc: drc, flacProperties: header) { decoder = opened }
    }

    private func nextPacket() throws(MediaError) -> Bool {
        if let ahead { return try ahead.next(demuxer, into: packet) }
        return try demuxer.next(into: packet)
    }

    /// Reads the next packet, and continues after invalid data if possible.
    private func readPacket() throws(MediaError) -> Bool {
        var failedAt: Int64 = -1
        while true {
            do {
                guard try nextPacket() else { return false }
                if failedAt >= 0 { lost.suspect() }
                return true
            } catch {
                guard case .corruptMedia = error.reason else { throw error }
                let position = bytePosition
                if bounds.hasBegun, position > failedAt, position < source.length, try demuxer.resume(source) {
                    failedAt = position
                    continue
                }
                end.breakage =
                    position >= source.length
                    ? Truncation.failure("it ends inside a packet")
                    : try Truncation.explain(error, source, demuxer.descriptor)
                return false
            }
        }
    }
}
