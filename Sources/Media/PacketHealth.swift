import CLibav

/// An account of packets that could not be decoded.
struct PacketHealth {
    /// The sum of the packets' durations, in units of the stream's time base.
    private(set) var time: Int64 = 0
    /// Stretches of bytes between frames that were no audio.
    private(set) var junk = 0
    private var gap = FrameGap()
    private var lastGap = FrameGap.Content.none
    /// Frames decoded since the start or the last bytes of no known kind.
    private var run = 0
    /// Whether bytes of no known kind came after audio.
    private var isInterrupted = false
    private var lastIsCorrupt = false
    private var lastIsShort = false
    /// Failed packets since the last good one.
    private var failures = 0
    private var lastFailure: MediaError.Code?

    mutating func read(_ packet: borrowing Packet, _ track: AudioTrack) {
        time += packet.duration
        lastGap = Self.mpegAudio.contains(track.codec) ? gap.read(packet.bytes) : .none
        lastIsCorrupt = packet.isCorrupt
        lastIsShort = FrameHeader.length(track.codec, packet.bytes).map { $0 > packet.bytes.count } ?? false
    }

    /// Counts packets in that nobody read.
    mutating func pass(_ time: Int64) { self.time += time }

    /// Notes a packet that the decoder refused; a few may be only a cut end, more are damage.
    mutating func failed(_ packet: borrowing Packet, _ code: MediaError.Code) throws(MediaError) {
        if lastGap != .none {
            junk += 1
            time -= packet.duration
            if lastGap == .unknown {
                isInterrupted = isInterrupted || run >= Self.surely
                run = 0
            }
            return
        }
        failures += 1
        lastFailure = code
        if failures > 2 { throw damage }
    }

    /// Notes samples; damage that lies before them is in the middle.
    mutating func decoded() throws(MediaError) {
        if failures > 0 { throw damage }
        run = min(run + 1, Self.surely)
        if isInterrupted && run == Self.surely { throw interruption }
    }

    /// Fails if the last packets could not be decoded, or were cut where other signs do not rule that out.
    func checkEnd(mayEndShort: Bool) throws(MediaError) {
        if failures > 0 || lastIsShort || lastIsCorrupt && !mayEndShort {
            throw Truncation.failure("its last packet is not whole")
        }
    }

    private var damage: MediaError {
        let words = lastFailure.map { ": \($0)" } ?? ""
        return MediaError(
            .corruptMedia, "decode the audio", "part of the audio is damaged and cannot be decoded\(words)",
            code: lastFailure)
    }

    private var interruption: MediaError {
        MediaError(
            .corruptMedia, "decode the audio",
            "part of the audio is damaged: between its frames lie bytes that are neither frames nor a known tag")
    }

    /// Frames in a row that are audio: single ones may be found in any bytes, before the first and behind the last.
    private static let surely = 4
    private static let mpegAudio: Set = [AV_CODEC_ID_MP3, AV_CODEC_ID_MP2, AV_CODEC_ID_MP1]
}
