import CLibav

/// An account of packets that could not be decoded.
struct PacketHealth {
    /// The sum of the packets' durations, in units of the stream's time base.
    private(set) var time: Int64 = 0
    /// Stretches of bytes between frames that were no audio.
    private(set) var junk = 0
    private var lastIsCorrupt = false
    private var lastIsShort = false
    /// Failed packets since the last good one.
    private var failures = 0
    private var lastFailure: MediaError.Code?

    mutating func read(_ packet: borrowing Packet, _ track: AudioTrack) {
        time += packet.duration
        lastIsCorrupt = packet.isCorrupt
        lastIsShort = FrameHeader.length(track.codec, packet.bytes).map { $0 > packet.bytes.count } ?? false
    }

    /// Notes a packet that the decoder refused; a few may be only a cut end, more are damage.
    mutating func failed(_ packet: borrowing Packet, _ track: AudioTrack, _ code: MediaError.Code) throws(MediaError) {
        if isJunk(packet, track) {
            junk += 1
            time -= packet.duration
            return
        }
        failures += 1
        lastFailure = code
        if failures > 2 { throw damage }
    }

    /// Notes samples; damage that lies before them is in the middle.
    mutating func decoded() throws(MediaError) {
        if failures > 0 { throw damage }
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

    /// Whether a packet of an MPEG audio file is a tag or padding between frames.
    private func isJunk(_ packet: borrowing Packet, _ track: AudioTrack) -> Bool {
        guard [AV_CODEC_ID_MP3, AV_CODEC_ID_MP2, AV_CODEC_ID_MP1].contains(track.codec) else { return false }
        let bytes = packet.bytes
        return bytes.count < 4 || !(bytes[0] == 0xFF && bytes[1] & 0xE0 == 0xE0)
    }
}
