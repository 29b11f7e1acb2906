import Bytes
import CLibav
import Containers
import Demuxing
import Libav

/// Sound of a track that its decoder could not give, in samples, found by what comes behind it.
///
/// Where time stamps are the container's own they tell how long the gap is. Where they are only counted up from packet to
/// packet (raw MPEG audio, ADTS, AC-3 and the like), the bytes between the frames tell.
struct GapEstimator {
    /// Places where something was refused though no time was lost there.
    private(set) var silentEvents = 0
    /// Those of the last packets that the container calls corrupt, the bytes of these, and packets behind them.
    private var marked = (events: 0, bytes: 0, others: 0)
    private let byBytes: Bool
    private let timeBase: AVRational
    /// Where whole frames may be found among the lost bytes.
    private let source: (any ByteSource)?
    /// Whether something was refused, called corrupt or passed over since the last good frame.
    private(set) var isSuspect = false
    /// Where the next frame would begin by the last one's time stamp.
    private var expected: Int64?
    /// Samples of the last frame, and whether the one before it had as many.
    private var frameLength: Int64 = 0
    private var isSteady = false
    /// Offset after the last packet that gave a frame, and the sums over all of those.
    private var goodEnd: Int64 = -1
    /// Offset of the last good frame.
    private(set) var frameStart: Int64 = -1
    /// Offset after the last good frame: parsers put what follows the last one into its packet.
    private(set) var frameEnd: Int64 = -1
    private let codec: AVCodecID
    private var goodBytes: Int64 = 0
    private var goodSamples: Int64 = 0
    /// Bytes of the smallest good frame.
    private var leastBytes = Int.max
    /// What a header tells of bytes and samples, which stands in for those of the first frames.
    private var expectedDensity: (bytes: Int64, samples: Int64)?
    /// Bytes of a frame, lately.
    private var recentBytes = 0.0
    private var isFirst = true
    /// Since the last good frame: lengths of the refused packets in units of the time base, and their bytes.
    private var refusedTime: Int64 = 0
    private var refusedBytes: Int64 = 0

    /// Whether anything was suspicious at all.
    private(set) var hasFound = false

    /// Samples of silence so far, and the bytes that it stands for.
    private var filled: Int64 = 0
    private var lostBytes: Int64 = 0

    /// Times in samples that can be taken from each other without a thought.
    private static let plausible = -(Int64(1) << 55)...Int64(1) << 55

    init(_ source: any ByteSource, _ descriptor: ContainerDescriptor, _ track: AudioTrack) {
        // What a stream without an end sent before may be gone.
        self.source = descriptor.places == .frameBytes && !source.isEndless ? source : nil
        byBytes = descriptor.timing == .addedUp
        timeBase = track.timeBase
        codec = track.codec
    }

    /// Places without a loss in the packet of MPEG-TS that the source ends in: libav calls all of its frames corrupt, the whole
    /// ones as well. It holds no more than 64 KiB.
    var eventsAtEnd: Int { marked.bytes <= 1 << 16 ? marked.events : 0 }

    /// Looks whether the first packet comes where the header says that sound begins.
    mutating func read(_ packet: borrowing Packet) {
        if packet.isCorrupt {
            marked.bytes += packet.bytes.count
        } else if marked.bytes > 0 {
            // What is left of a frame comes from the parser, which does not pass the mark on.
            marked = marked.others == 0 ? (marked.events, marked.bytes, 1) : (0, 0, 0)
        }
        guard isFirst else { return }
        isFirst = false
        if byBytes && goodEnd >= 0 && packet.offset - goodEnd > Int64(packet.bytes.count) / 2 { suspect() }
    }

    /// Notes that the decoder refused a packet.
    mutating func refused(_ packet: borrowing Packet) {
        (isSuspect, hasFound) = (true, true)
        refusedTime += packet.duration
        refusedBytes += Int64(packet.bytes.count)
    }

    /// Notes that something may be missing before the next frame, such as so many bytes passed over.
    mutating func suspect(bytes: Int64 = 0) {
        (isSuspect, hasFound) = (true, true)
        refusedBytes += max(bytes, 0)
    }

    /// Has the first frame begin where a header says, and learns from it how many bytes a frame takes.
    mutating func expect(_ xing: XingHeader) {
        guard let frames = xing.frames, let bytes = xing.bytes, frames > 0, bytes > 0 else { return }
        goodEnd = xing.start
        frameLength = xing.frameLength
        expectedDensity = (bytes, frames * xing.frameLength)
    }

    /// Whether a header may be right that has the sound of frames of bytes end so many samples behind where it does: all of the
    /// bytes lost before an offset would hold no more, and without the silence that stands for them there would be no fewer.
    func allows(_ difference: Int64, end: Int64) -> Bool {
        let bytes = lostBytes + max(frameEnd >= 0 ? end - frameEnd : 0, refusedBytes)
        // A decoder gives a frame or two at the ends more or less.
        let most = bytes / Int64(leastBytes) * frameLength - filled + 2 * frameLength
        return (-filled - 2 * frameLength...max(most, 0)).contains(difference)
    }

    /// Forgets what came before, as after a seek.
    mutating func restart() {
        isSuspect = false
        expected = nil
        goodEnd = -1
        (refusedTime, refusedBytes) = (0, 0)
    }

    /// Answers how many samples are missing before a decoded frame, which came of the packet.
    ///
    /// `isBroken` answers whether the container's own numbering has a gap; it is asked only where time jumps and nothing else
    /// is suspicious.
    mutating func before(
        _ frame: borrowing Frame, _ packet: borrowing Packet, isTimed: Bool, isBroken: () -> Bool
    ) -> Int64 {
        let rate = CInt(max(frame.pointer.pointee.sample_rate, 1))
        let count = Int64(frame.samples)
        let time = (isTimed ? frame.timestamp : nil)
            .map { av_rescale_q($0, timeBase, AVRational(num: 1, den: rate)) }
            .flatMap { Self.plausible.contains($0) ? $0 : nil }
        var lost: Int64 = 0
        if byBytes {
            if isSuspect { lost = lostByBytes(packet) }
        } else if let time, let expected, time > expected {
            var isMissing = isSuspect
            if !isSuspect && time - expected > frameLength / 2 { isMissing = isBroken() }
            if isMissing {
                (isSuspect, hasFound) = (true, true)
                lost = lostByTime(time - expected, rate, packet)
            }
        }
        // A frame without a time says nothing of the gap before it: the next one will.
        let isSettled = byBytes || time != nil || expected == nil
        if isSuspect && isSettled {
            if lost == 0 && (goodSamples > 0 || expectedDensity != nil || refusedTime > 0) {
                silentEvents += 1
                if packet.isCorrupt { marked.events += 1 }
            }
            filled += lost
            lostBytes += max(refusedBytes, packet.offset >= 0 && goodEnd >= 0 ? packet.offset - goodEnd : 0)
            isSuspect = false
            (refusedTime, refusedBytes) = (0, 0)
        }
        note(packet, count)
        expected = time.map { $0 + count } ?? expected.map { $0 + count }
        return lost
    }

    /// How many samples are missing behind the last frame, at the end of the source.
    func behind(rate: Int) -> Int64 {
        guard isSuspect else { return 0 }
        if byBytes { return rounded(Double(refusedBytes)) }
        return av_rescale_q(refusedTime, timeBase, AVRational(num: 1, den: CInt(max(rate, 1))))
    }

    private mutating func note(_ packet: borrowing Packet, _ count: Int64) {
        isSteady = count > 0 && count == frameLength
        if count > 0 { frameLength = count }
        goodSamples += count
        goodBytes += Int64(packet.bytes.count)
        if count > 0, packet.bytes.count > 0 { leastBytes = min(leastBytes, packet.bytes.count) }
        recentBytes += (Double(packet.bytes.count) - recentBytes) * (recentBytes > 0 ? 0.1 : 1)
        guard packet.offset >= 0 else { return }
        goodEnd = packet.offset + Int64(packet.bytes.count)
        frameStart = packet.offset
        frameEnd = packet.offset + Int64(min(FrameHeader.length(codec, packet.bytes) ?? .max, packet.bytes.count))
    }

    private func lostByBytes(_ packet: borrowing Packet) -> Int64 {
        guard goodEnd >= 0, packet.offset >= goodEnd else { return rounded(Double(refusedBytes)) }
        if let source, goodBytes > 0, frameLength > 0 {
            let average = recentBytes > 0 ? recentBytes : Double(goodBytes) * Double(frameLength) / Double(goodSamples)
            let frames = TransportFrames.count(source, from: goodEnd, to: packet.offset, average: average)
            if let frames { return Int64(frames) * frameLength }
        }
        return rounded(Double(packet.offset - goodEnd))
    }

    /// The samples, in whole frames, that so many bytes would have held.
    private func rounded(_ bytes: Double) -> Int64 {
        let own = (bytes: goodBytes, samples: goodSamples)
        let density = goodSamples > 16 * frameLength ? own : expectedDensity ?? own
        guard density.bytes > 0, frameLength > 0 else { return 0 }
        let frames = bytes * Double(density.samples) / Double(density.bytes) / Double(frameLength)
        // A header may promise any number of frames in a few bytes; each takes a byte at least.
        return Int64(min(frames, bytes).rounded()) * frameLength
    }

    /// The gap in time: exact where time stamps count samples, otherwise in whole frames where they have one length.
    private func lostByTime(_ gap: Int64, _ rate: CInt, _ packet: borrowing Packet) -> Int64 {
        let lost =
            timeBase.num == 1 && timeBase.den % rate == 0 || !isSteady
            ? gap : (gap + frameLength / 2) / frameLength * frameLength
        // A time stamp may be damaged as well: bytes must be missing, as many as a good part of the gap would have taken.
        let bytes = max(refusedBytes, packet.offset >= 0 && goodEnd >= 0 ? packet.offset - goodEnd : 0)
        let told = av_rescale_q(refusedTime, timeBase, AVRational(num: 1, den: rate))
        guard lost > told + 2 * Int64(rate), goodSamples > 0, goodBytes > 0 else { return lost }
        return Double(bytes) * 8 * Double(goodSamples) > Double(goodBytes) * Double(lost)
            ? lost : max(told, rounded(Double(bytes)))
    }
}
