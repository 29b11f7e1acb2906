import Bytes
import CLibav
import Containers
import Decoding
import Demuxing
import Libav
import Lifecycle
import MediaTypes

/// Finds the packets of a range by their headers, and detects what a decoder would detect.
struct PacketScan {
    private let codec: AVCodecID
    private let rate: Int
    /// The first requested sample and the one after the last; the end is `nil` for all samples.
    private let wanted: (first: Int64, end: Int64?)
    /// The number of audible samples, if only padding follows that libav does not remove.
    private let audible: Int64?

    /// Samples in the packets so far, including priming.
    private var decoded: Int64 = 0
    private var count: Int64 = 0
    private var bytes: Int64 = 0
    /// Samples that the decoder still has to drop, and the number of samples dropped before the first audible one.
    private var skip: Int64
    private var delay: Int64?
    private var discarded: Int64 = 0
    private var reservoir = BitReservoir()
    /// The start of the latest packets in decoded samples, and the bytes before them.
    private var starts: [(decoded: Int64, bytes: Int64)] = []
    private var first: (number: Int64, decoded: Int64, bytes: Int64, wanted: Int64)?
    private var last: (number: Int64, sample: Int64, decoded: Int64, bytes: Int64)?
    /// The end of the last packet by its timestamp, in samples.
    private var clock: Int64?

    /// The pre-roll that Opus needs to sound as in a whole decode. The 80 ms of RFC 7845 leave an error of −19 dB in the first
    /// 20 ms of music, these 320 ms one of −90 dB.
    private static let opusPreroll: Int64 = 15_360
    private static let aacPreroll = 2
    private static let maxStarts = 256
    private static let cuttable: Set = [AV_CODEC_ID_MP3, AV_CODEC_ID_AAC, AV_CODEC_ID_OPUS, AV_CODEC_ID_VORBIS]

    private init(_ track: AudioTrack, _ wanted: (first: Int64, end: Int64?), audible: Int64?, skip: Int64) {
        codec = track.codec
        rate = track.rate
        self.wanted = wanted
        self.audible = audible
        self.skip = skip
    }

    /// Reads a source to the end of the range. Throws if packet boundaries are unclear or packets are missing.
    ///
    /// Reports the audible samples so far, and the fraction of the bytes that has been read.
    static func run(
        _ source: any ByteSource, track index: Int? = nil, first: Int64 = 0, end: Int64? = nil, stop: CancellationFlag,
        progress: (_ samples: Int64, _ byteFraction: Double) -> Void = { _, _ in }
    ) throws(MediaError) -> PacketSpan {
        let demuxer = try Demuxer.open(source, stop: stop)
        let track = try demuxer.track(index)
        try Protection.check(demuxer, track)
        let declared = DeclaredLength(source, demuxer, track)
        guard declared.parts == nil else { throw .notCopied("it consists of several edits") }
        var lengths = try CopiedPackets.open(demuxer.stream(track.index), track)
        var continuity = Continuity(demuxer, track)
        var scan = PacketScan(
            track, (first, end), audible: declared.audible, skip: demuxer.preskip(track) + declared.lead)
        let packet = try Packet()
        var time: Int64 = 0
        let isVorbisPages = track.codec == AV_CODEC_ID_VORBIS && demuxer.descriptor.places == .pages
        var vorbisPage = VorbisPage(demuxer.bytes, demuxer.stream(track.index))
        var pages = OggPages()
        while try demuxer.next(into: packet) {
            defer { packet.clear() }
            guard try continuity.read(packet, position: demuxer.bytePosition) == nil else {
                throw .notCopied("a part of it is missing")
            }
            guard packet.streamIndex == track.index else { continue }
            guard !packet.followsGap else { throw .notCopied("it has bytes between its frames that are not audio") }
            if demuxer.descriptor.places == .pages, try pages.read(packet, demuxer.bytes, flac: nil) != nil {
                throw .notCopied("its first page of sound is missing")
            }
            if isVorbisPages { try vorbisPage.mend(packet) }
            try Protection.check(packet)
            guard let length = try lengths.samples(of: packet) else { continue }
            time += packet.duration
            try scan.take(packet, length, track)
            if scan.isComplete { return try scan.span() }
            progress(scan.heard, demuxer.byteFraction)
        }
        if let truncation = try Truncation.found(source, demuxer.descriptor) { throw truncation }
        if let shortfall = declared.shortfall(position: scan.heard, packetTime: time) { throw shortfall }
        guard continuity.missing(seconds: declared.seconds, length: source.length) == nil else {
            throw .notCopied("its end is missing")
        }
        return try scan.span()
    }

    /// Audible samples so far.
    private var heard: Int64 { delay.map { min(decoded - $0 - discarded, audible ?? .max) } ?? 0 }

    /// Whether the range ended before the source.
    private var isComplete: Bool { last != nil && wanted.end.map { $0 <= audible ?? .max } ?? false }

    private mutating func take(_ packet: borrowing Packet, _ length: Int64, _ track: AudioTrack) throws(MediaError) {
        try checkTime(packet, length, track)
        guard !packet.changesParameters else { throw .notCopied("its parameters change within the range") }
        // MPEG-TS has a single stream type for all layers, for which libav assumes layer III.
        if FrameHeader.isMPEG(codec), let found = FrameHeader.mpegCodec(packet.bytes), found != codec {
            throw .notCopied("its container does not declare the layer of MPEG audio")
        }
        let trimming = packet.trimming
        if discarded > 0 {
            guard trimming?.discard ?? 0 >= length else { throw .notCopied("it consists of several edits") }
            return
        }
        if codec == AV_CODEC_ID_MP3 { reservoir.append(packet.bytes) }
        starts.append((decoded, bytes))
        if starts.count > 2 * Self.maxStarts { starts.removeFirst(Self.maxStarts) }
        try drop(packet, length, trimming)
        if let delay, first == nil, decoded + length > wanted.first + delay { first = try start(delay) }
        decoded += length
        bytes += Int64(packet.bytes.count)
        let limit = min(wanted.end ?? .max, audible ?? .max)
        if let delay, last == nil, limit < .max, decoded - discarded >= limit + delay {
            last = (count, limit + delay, decoded, bytes)
        }
        count += 1
    }

    /// Emulates what the decoder drops: `discard_samples` in libavcodec.
    private mutating func drop(
        _ packet: borrowing Packet, _ length: Int64, _ trimming: (skip: Int64, discard: Int64)?
    ) throws(MediaError) {
        if let trimming {
            guard delay == nil || trimming.skip == 0 else { throw .notCopied("it consists of several edits") }
            skip = trimming.skip
            // The decoder ignores a value that exceeds the packet's samples.
            discarded = trimming.discard <= length ? trimming.discard : 0
        }
        guard delay == nil else {
            if packet.isDiscarded { discarded = length }
            return
        }
        if packet.isDiscarded || length <= skip {
            skip = max(skip - length, 0)
        } else {
            delay = decoded + skip
            skip = 0
        }
    }

    /// The first packet to copy, once the packet with the first requested sample is read.
    private func start(_ delay: Int64) throws(MediaError) -> (Int64, Int64, Int64, Int64) {
        guard wanted.first > 0 else { return (0, 0, 0, count) }
        var back: Int
        switch codec {
        case AV_CODEC_ID_MP3:
            guard let reach = reservoir.reach else {
                throw .notCopied("its bit reservoir starts too far before the range")
            }
            back = reach
        case AV_CODEC_ID_AAC: back = min(Self.aacPreroll, starts.count - 1)
        case AV_CODEC_ID_OPUS:
            back = 0
            while back + 1 < starts.count,
                starts[starts.count - 1 - back].decoded > wanted.first + delay - Self.opusPreroll
            {
                back += 1
            }
        case AV_CODEC_ID_VORBIS:
            guard decoded == wanted.first + delay else {
                throw .notCopied("Vorbis can only be cut between packets, and the range starts inside one")
            }
            // The packet before it only starts the overlap for the first sample. It is not audible itself.
            return (count - 1, decoded, starts[max(starts.count - 2, 0)].bytes, count)
        default: throw .notCopied("only MP3, AAC, Opus and Vorbis can be cut without encoding")
        }
        let from = starts[starts.count - 1 - back]
        return (count - Int64(back), from.decoded, from.bytes, count)
    }

    /// Throws if timestamps jump. Lost audio there would be silence when decoded.
    private mutating func checkTime(
        _ packet: borrowing Packet, _ length: Int64, _ track: AudioTrack
    ) throws(MediaError) {
        guard let timestamp = packet.timestamp else { return }
        let time = av_rescale_q(timestamp, track.timeBase, AVRational(num: 1, den: CInt(rate)))
        guard (-(Int64(1) << 55)...Int64(1) << 55).contains(time) else { throw .notCopied("its time stamps jump") }
        if let clock, count > 2, abs(time - clock) > Int64(rate / 80) {
            throw .notCopied("its time stamps jump")
        }
        clock = time + length
    }

    private func span() throws(MediaError) -> PacketSpan {
        guard let delay, heard > 0 else { throw .notCopied("no audio was found in it") }
        guard let first, wanted.first < heard else {
            throw MediaError(
                .invalidTimeRange, "read the range",
                "the range starts at \(MediaTime(sample: wanted.first, rate: rate).seconds) "
                    + "s, after the end of the source at \(MediaTime(sample: heard, rate: rate).seconds) s")
        }
        let end = last ?? (count - 1, decoded - discarded, decoded, bytes)
        let isWhole = wanted.first == 0 && !isComplete
        guard isWhole || Self.cuttable.contains(codec) else {
            throw .notCopied("only MP3, AAC, Opus and Vorbis can be cut without encoding")
        }
        return PacketSpan(
            first: first.number, last: end.number, lead: wanted.first + delay - first.decoded,
            samples: end.sample - delay - wanted.first, trail: end.decoded - end.sample, isWhole: isWhole,
            isShort: !isComplete && (wanted.end.map { $0 > heard } ?? false),
            isWithinPacket: first.wanted == end.number, bytes: end.bytes - first.bytes)
    }
}
