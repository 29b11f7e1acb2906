/// The samples of Vorbis that is a single page of Ogg, which libav miscounts.
///
/// The first packet of Vorbis only begins what the second one ends. libav counts its length all the same where all sound is in
/// one page, so that all times are late by it, and as many samples are dropped at the end that are none of the padding.
struct VorbisPage {
    private var offset: Int64?
    private var excess: Int64 = 0

    /// Puts the next packet of the stream right.
    mutating func mend(_ packet: borrowing Packet) throws(MediaError) {
        // The first bit tells headers from sound (Vorbis I, 4.2.1 and 4.3.1).
        guard packet.bytes.first.map({ $0 & 1 == 0 }) == true else {
            offset = nil
            return
        }
        if offset == nil {
            offset = packet.offset
            excess = packet.timestamp == 0 ? packet.duration : 0
        }
        guard excess > 0, packet.offset == offset else { return }
        packet.delay(by: -excess)
        if let trimming = packet.trimming, trimming.discard > 0 {
            try packet.trim(skip: trimming.skip, discard: max(trimming.discard - excess, 0))
        }
    }
}
