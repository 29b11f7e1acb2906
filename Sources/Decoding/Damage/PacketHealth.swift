import Bytes
import CLibav
import Demuxing
import Libav

/// An account of packets that could not be decoded, and of bytes between frames that are no audio.
struct PacketHealth {
    /// The sum of the packets' durations, in units of the stream's time base.
    private(set) var time: Int64 = 0
    /// Stretches of bytes between frames that were no audio.
    private(set) var junk = 0
    private var gap = FrameGap()
    private var lastGap = FrameGap.Content.none
    /// Frames decoded since the start or the last bytes of no known kind.
    private var run = 0
    /// Whether bytes of no known kind came after audio, and no audio for certain came after them.
    private(set) var isInterrupted = false
    private var lastIsCorrupt = false
    private var lastIsShort = false
    /// Failed packets since the last good one.
    private var failures = 0
    private(set) var lastFailure: MediaError.Code?

    /// Has bytes before the first frame count as bytes between frames, where a header says that it comes at once.
    mutating func expectAudio() { run = Self.surely }

    mutating func read(_ packet: borrowing Packet, _ track: AudioTrack) {
        time += packet.duration
        lastGap = FrameHeader.isMPEG(track.codec) ? gap.read(packet.bytes) : .none
        lastIsCorrupt = packet.isCorrupt
        lastIsShort = FrameHeader.length(track.codec, packet.bytes).map { $0 > packet.bytes.count } ?? false
    }

    /// Notes that the last packet holds a part of a frame only.
    mutating func cutShort() { lastIsShort = true }

    /// Counts packets in that nobody read.
    mutating func pass(_ time: Int64) { self.time += time }

    /// Notes a packet that the decoder refused; answers whether it should have been audio.
    mutating func failed(_ packet: borrowing Packet, _ code: MediaError.Code) -> Bool {
        if lastGap != .none {
            junk += 1
            time -= packet.duration
            if lastGap == .unknown {
                isInterrupted = isInterrupted || run >= Self.surely
                run = 0
            }
            return false
        }
        failures += 1
        lastFailure = code
        return true
    }

    /// Notes samples.
    mutating func decoded() {
        failures = 0
        run = min(run + 1, Self.surely)
    }

    /// Notes that what interrupted the audio is passed.
    mutating func resume() { isInterrupted = false }

    /// Whether no more than the last packet could not be decoded.
    var endsInOne: Bool { failures <= 1 }

    /// Whether the last packets could not be decoded, or were cut where other signs do not rule that out.
    func endsShort(mayEndShort: Bool, isWhole: Bool) -> Bool {
        failures > 0 && !isWhole || lastIsShort || lastIsCorrupt && !mayEndShort
    }

    /// Frames in a row that are audio: single ones may be found in any bytes, before the first and behind the last.
    private static let surely = 4
}
