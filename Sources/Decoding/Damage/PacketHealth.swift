import Bytes
import CLibav
import Demuxing
import Libav

/// Counts packets that could not be decoded, and bytes between frames that are not audio.
struct PacketHealth {
    /// The sum of packet durations, in units of the stream's time base.
    private(set) var time: Int64 = 0
    /// The number of byte ranges between frames that were not audio.
    private(set) var junk = 0
    private var gap = FrameGap()
    private var lastGap = FrameGap.Content.none
    /// Frames decoded since the start or since the last unknown bytes.
    private var run = 0
    /// Whether unknown bytes followed audio, and no certain audio followed them.
    private(set) var isInterrupted = false
    private var lastIsCorrupt = false
    private var lastIsShort = false
    /// Failed packets since the last good one.
    private var failures = 0
    private(set) var lastFailure: MediaError.Code?
    /// Whether a frame was decoded.
    private(set) var hasDecoded = false
    /// Whether all packets that were refused need what libav does not implement.
    private(set) var isUnimplemented = true

    /// Treats bytes before the first frame as bytes between frames, because a header declares that audio begins at once.
    mutating func expectAudio() { run = Self.surely }

    mutating func read(_ packet: borrowing Packet, _ track: AudioTrack) {
        time += packet.duration
        lastGap = FrameHeader.isMPEG(track.codec) ? gap.read(packet.bytes) : .none
        lastIsCorrupt = packet.isCorrupt
        lastIsShort = FrameHeader.length(track.codec, packet.bytes).map { $0 > packet.bytes.count } ?? false
    }

    /// Records that the last packet contains only part of a frame.
    mutating func cutShort() { lastIsShort = true }

    /// Whether the last packet has bytes before its frame.
    var beginsWithJunk: Bool { lastGap != .none }

    /// Records that the bytes before the last packet's frame were cut off.
    mutating func cutJunk() {
        skipJunk()
        lastGap = .none
    }

    private mutating func skipJunk() {
        junk += 1
        guard lastGap == .unknown else { return }
        isInterrupted = isInterrupted || run >= Self.surely
        run = 0
    }

    /// Counts packets that were skipped by a seek.
    mutating func pass(_ time: Int64) { self.time += time }

    /// Records a packet that the decoder refused; returns whether it should have been audio.
    mutating func failed(_ packet: borrowing Packet, _ code: MediaError.Code) -> Bool {
        if lastGap != .none {
            skipJunk()
            time -= packet.duration
            return false
        }
        failures += 1
        lastFailure = code
        isUnimplemented = isUnimplemented && code.isUnimplemented
        return true
    }

    /// Records that a frame was decoded.
    mutating func decoded() {
        failures = 0
        hasDecoded = true
        run = min(run + 1, Self.surely)
    }

    /// Records that audio has resumed after an interruption.
    mutating func resume() { isInterrupted = false }

    /// Whether at most the last packet could not be decoded.
    var endsInOne: Bool { failures <= 1 }

    /// Whether the last packets could not be decoded, or were truncated unless other evidence rules that out.
    func endsShort(mayEndShort: Bool, isWhole: Bool) -> Bool {
        failures > 0 && !isWhole || lastIsShort || lastIsCorrupt && !mayEndShort
    }

    /// The number of consecutive frames that prove audio. Single ones may occur in any bytes.
    private static let surely = 4
}
