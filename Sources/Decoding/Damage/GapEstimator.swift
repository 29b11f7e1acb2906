import Bytes
import CLibav
import Containers
import Demuxing
import Libav

/// Estimates how many samples of a track its decoder could not return.
///
/// If the container stores timestamps, they define the gap's length. If timestamps are only accumulated from packet to packet
/// (raw MPEG audio, ADTS, AC-3 and similar), the bytes between the frames are used.
struct GapEstimator {
    /// Refused data without any lost time.
    private(set) var silentEvents = 0
    /// Silent events within the last corrupt packets, the bytes of these packets, and the packets after them.
    private var marked = (events: 0, bytes: 0, others: 0)
    private let byBytes: Bool
    private let timeBase: AVRational
    /// The source in which whole frames are searched among the lost bytes.
    private let source: (any ByteSource)?
    /// Whether something was refused, marked corrupt or skipped since the last good frame.
    private(set) var isSuspect = false
    /// The expected start of the next frame in samples, from the last one's timestamp.
    private(set) var expected: Int64?
    private var expectedStart: Int64?
    /// The samples of the last frame, and whether the one before it had the same number.
    private var frameLength: Int64 = 0
    private var isSteady = false
    /// The offset after the last packet that was decoded.
    private var goodEnd: Int64 = -1
    /// The offset of the last good frame.
    private(set) var frameStart: Int64 = -1
    /// The offset after the last good frame. The parser appends bytes after the last frame to its packet.
    private(set) var frameEnd: Int64 = -1
    private let codec: AVCodecID
    private var goodBytes: Int64 = 0
    private var goodSamples: Int64 = 0
    /// The size of the smallest good frame in bytes.
    private var leastBytes = Int.max
    /// The bytes and samples that a header declares, used instead of an average over the first frames.
    private var expectedDensity: (bytes: Int64, samples: Int64)?
    /// The moving average of the frame size in bytes.
    private var recentBytes = 0.0
    private var isFirst = true
    /// Since the last good frame: the duration of refused packets in units of the time base, and their bytes.
    private var refusedTime: Int64 = 0
    private var refusedBytes: Int64 = 0

    /// Whether anything suspicious was found at all.
    private(set) var hasFound = false

    /// The samples of silence so far, and the bytes that they replace.
    private var filled: Int64 = 0
    private var lostBytes: Int64 = 0

    /// Times in samples that can be subtracted without overflow.
    private static let plausible = -(Int64(1) << 55)...Int64(1) << 55

    init(_ source: any ByteSource, _ descriptor: ContainerDescriptor, _ track: AudioTrack) {
        // The past of an endless stream cannot be read.
        self.source = descriptor.places == .frameBytes && !source.isEndless ? source : nil
        byBytes = descriptor.timing.isAddedUp
        timeBase = track.timeBase
        codec = track.codec
    }

    /// Events without loss in the MPEG-TS packet in which the source ends. libav marks all of its frames as corrupt, even
    /// complete ones. Such a packet holds at most 64 KiB.
    var eventsAtEnd: Int { marked.bytes <= 1 << 16 ? marked.events : 0 }

    /// Checks whether the first packet starts where the header says that audio begins.
    mutating func read(_ packet: borrowing Packet) {
        if packet.isCorrupt {
            marked.bytes += packet.bytes.count
        } else if marked.bytes > 0 {
            // The rest of a frame comes from the parser, which does not preserve the corrupt flag.
            marked = marked.others == 0 ? (marked.events, marked.bytes, 1) : (0, 0, 0)
        }
        guard isFirst else { return }
        isFirst = false
        if byBytes && goodEnd >= 0 && packet.offset - goodEnd > Int64(packet.bytes.count) / 2 { suspect() }
    }

    /// Records that the decoder refused a packet.
    mutating func refused(_ packet: borrowing Packet) {
        (isSuspect, hasFound) = (true, true)
        refusedTime += packet.duration
        refusedBytes += Int64(packet.bytes.count)
    }

    /// Records that something may be missing before the next frame, for example skipped bytes.
    mutating func suspect(bytes: Int64 = 0) {
        (isSuspect, hasFound) = (true, true)
        refusedBytes += max(bytes, 0)
    }

    /// Counts bytes that may be lost, if times show a gap.
    mutating func skipped(bytes: Int64) { refusedBytes += bytes }

    /// Sets the start of the first frame and the average frame size from a header.
    mutating func expect(_ xing: XingHeader) {
        guard let frames = xing.frames, let bytes = xing.bytes, frames > 0, bytes > 0 else { return }
        goodEnd = xing.start
        frameLength = xing.frameLength
        expectedDensity = (bytes, frames * xing.frameLength)
    }

    /// Sets the start of the sound in units of the time base, because what precedes the first packet is missing.
    mutating func expect(start: Int64) { expectedStart = start }

    /// Whether a header may be correct that puts the end of the audio `difference` samples after the current position. The lost
    /// bytes before offset `end` cannot hold more samples, and without the filled silence there cannot be fewer.
    func allows(_ difference: Int64, end: Int64) -> Bool {
        let bytes = lostBytes + max(frameEnd >= 0 ? end - frameEnd : 0, refusedBytes)
        // A decoder may return a frame or two more or less at the ends.
        let most = bytes / Int64(leastBytes) * frameLength - filled + 2 * frameLength
        return (-filled - 2 * frameLength...max(most, 0)).contains(difference)
    }

    /// Resets the state, as after a seek.
    mutating func restart() {
        isSuspect = false
        (expected, expectedStart) = (nil, nil)
        goodEnd = -1
        (refusedTime, refusedBytes) = (0, 0)
    }

    /// Returns how many samples are missing before a frame decoded from the packet.
    ///
    /// `isBroken` returns whether the container's own numbering has a gap. It is called only if the timestamp jumps and nothing
    /// else is suspicious.
    mutating func before(
        _ frame: borrowing Frame, _ packet: borrowing Packet, isTimed: Bool, isBroken: () -> Bool
    ) -> Int64 {
        let rate = CInt(max(frame.pointer.pointee.sample_rate, 1))
        let count = Int64(frame.samples)
        let time = (isTimed ? frame.timestamp : nil)
            .map { av_rescale_q($0, timeBase, AVRational(num: 1, den: rate)) }
            .flatMap { Self.plausible.contains($0) ? $0 : nil }
        let isStartLost = expectedStart != nil
        if let start = expectedStart {
            expectedStart = nil
            expected = av_rescale_q(start, timeBase, AVRational(num: 1, den: rate))
            suspect()
        }
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
        // A frame without a timestamp does not define the gap before it. The next one will.
        let isSettled = byBytes || time != nil || expected == nil
        if isSuspect && isSettled {
            if lost == 0 && (goodSamples > 0 || expectedDensity != nil || refusedTime > 0 || isStartLost) {
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

    /// How many samples are missing after the last frame, at the end of the source.
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

    /// The number of samples, in whole frames, that the bytes would have held.
    private func rounded(_ bytes: Double) -> Int64 {
        let own = (bytes: goodBytes, samples: goodSamples)
        let density = goodSamples > 16 * frameLength ? own : expectedDensity ?? own
        guard density.bytes > 0, frameLength > 0 else { return 0 }
        let frames = bytes * Double(density.samples) / Double(density.bytes) / Double(frameLength)
        // A header may declare any number of frames in a few bytes. Each frame has at least one byte.
        return Int64(min(frames, bytes).rounded()) * frameLength
    }

    /// The gap in samples: exact if timestamps count samples; otherwise rounded to whole frames if all have the same length.
    private func lostByTime(_ gap: Int64, _ rate: CInt, _ packet: borrowing Packet) -> Int64 {
        let lost =
            timeBase.num == 1 && timeBase.den % rate == 0 || !isSteady
            ? gap : (gap + frameLength / 2) / frameLength * frameLength
        // The timestamp itself may be damaged. The missing bytes must account for a good part of the gap.
        let bytes = max(refusedBytes, packet.offset >= 0 && goodEnd >= 0 ? packet.offset - goodEnd : 0)
        let refusedSamples = av_rescale_q(refusedTime, timeBase, AVRational(num: 1, den: rate))
        guard lost > refusedSamples + 2 * Int64(rate), goodSamples > 0, goodBytes > 0 else { return lost }
        return Double(bytes) * 8 * Double(goodSamples) > Double(goodBytes) * Double(lost)
            ? lost : max(refusedSamples, rounded(Double(bytes)))
    }
}
