import CLibav

/// Whether the packets of a track follow each other, in containers that pass over what they cannot read without a word.
///
/// A pause in time alone is no damage: recorders leave one where nothing was said. It is damage where bytes were passed
/// over as well, as many as a good part of that time would have taken.
struct Continuity {
    /// Units of the time base a second; nothing if this container is not watched.
    private let second: Int64?
    private let track: Int
    /// Where the last packet of the track ends, and how long it is.
    private var end: Int64?
    private var step: Int64 = 0
    /// Offset of the last packet of any stream, and of the byte after it and those that share its offset.
    private var last: Int64 = -1
    private var offset: Int64 = 0
    /// Bytes and time of the track so far.
    private var bytes: Int64 = 0
    private var time: Int64 = 0
    /// Bytes passed over since the track's last packet.
    private var skipped: Int64 = 0

    /// Containers with time stamps whose packets say where they lie.
    private static let watched: Set = ["matroska,webm", "asf", "flv", "nut", "mpegts", "mpeg"]

    init(_ demuxer: borrowing Demuxer, _ track: AudioTrack) {
        let rate = track.timeBase.num > 0 ? Int64(track.timeBase.den / track.timeBase.num) : 0
        let isWatched = Self.watched.contains(demuxer.formatName) && demuxer.givesAllPackets
        second = isWatched && rate >= 100 ? rate : nil
        self.track = track.index
    }

    /// Takes a packet of any stream; fails if audio is missing before it.
    mutating func read(_ packet: borrowing Packet) throws(MediaError) {
        guard let second else { return }
        if packet.offset >= 0, packet.offset != last {
            if last >= 0 { skipped += max(packet.offset - offset, 0) }
            (last, offset) = (packet.offset, max(offset, packet.offset))
        }
        offset += Int64(packet.bytes.count)
        guard packet.streamIndex == track, let start = packet.timestamp else { return }
        if let end {
            // Where packets do not tell their length, the last step stands for it.
            if packet.duration == 0 && step == 0 { step = max(start - end, 0) }
            let gap = start - end - (packet.duration == 0 ? step : 0)
            if gap > second / 10, isMissing(gap) {
                throw damage("\(Self.tenths(gap, second)) s of audio are missing after \(Self.tenths(time, second)) s")
            }
        }
        skipped = 0
        bytes += Int64(packet.bytes.count)
        time += packet.duration > 0 ? packet.duration : step
        end = start + packet.duration
    }

    /// Counts packets in that nobody read; the next may lie anywhere.
    mutating func pass(time: Int64, bytes: Int64) {
        self.time += time
        self.bytes += bytes
        (end, last, offset, skipped) = (nil, -1, 0, 0)
    }

    /// Fails if the source has ended long before the length in seconds that its header tells, and bytes were passed over.
    func checkEnd(seconds: Double?, length: Int64) throws(MediaError) {
        guard let second, let seconds, bytes > 0, seconds < 1e9 else { return }
        let missing = Int64(seconds * Double(second)) - time
        var rest = self
        rest.skipped += max(length - offset, 0)
        if missing > second, rest.isMissing(missing) {
            throw damage("the last \(Self.tenths(missing, second)) s of audio are missing")
        }
    }

    /// Whether the bytes passed over would have held a good part of that time; some of it may look like packets.
    private func isMissing(_ gap: Int64) -> Bool {
        Double(skipped) * 4 * Double(time) > Double(bytes) * Double(gap) && skipped > 256
    }

    private func damage(_ what: String) -> MediaError {
        MediaError(.corruptMedia, "read the source", "the source is damaged: \(what)")
    }

    private static func tenths(_ time: Int64, _ second: Int64) -> Double {
        (Double(time) / Double(second) * 10).rounded() / 10
    }
}
