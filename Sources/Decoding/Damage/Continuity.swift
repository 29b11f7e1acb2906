import CLibav
import Containers
package import Demuxing
package import Libav

/// Whether the packets of a track follow each other, in containers that pass over what they cannot read without a word.
///
/// A pause in time alone is no damage: recorders leave one where nothing was said. It is damage where bytes were passed
/// over as well, as many as a good part of that time would have taken.
package struct Continuity {
    /// Units of the time base a second; nothing if this container is not watched.
    private let second: Int64?
    private let track: Int
    private let isPlacedLate: Bool
    /// Where the last packet of the track ends, and how long it is.
    private var end: Int64?
    private var first: Int64?
    private var step: Int64 = 0
    /// Offset of the last packet of any stream, and of the byte after it and those that share its offset.
    private var last: Int64 = -1
    private var offset: Int64 = 0
    /// Bytes and time of the track so far.
    private var bytes: Int64 = 0
    private var time: Int64 = 0
    /// Bytes passed over since the track's last packet.
    private var skipped: Int64 = 0

    package init(_ demuxer: borrowing Demuxer, _ track: AudioTrack) {
        let rate = track.timeBase.num > 0 ? Int64(track.timeBase.den / track.timeBase.num) : 0
        let isPlaced: Bool
        switch demuxer.descriptor.timing {
        case .addedUp, .stamped: (isPlaced, isPlacedLate) = (false, false)
        case .placed: (isPlaced, isPlacedLate) = (true, false)
        case .placedLate: (isPlaced, isPlacedLate) = (true, true)
        }
        second = isPlaced && demuxer.givesAllPackets && rate >= 100 ? rate : nil
        self.track = track.index
    }

    /// Takes a packet of any stream; answers how many bytes were passed over if audio is missing before it.
    /// `position` is where libav reads next.
    package mutating func read(_ packet: borrowing Packet, position: Int64) -> Int64? {
        guard let second else { return nil }
        // What libav says of a packet's place in ASF is late by one packet of the container.
        let place = isPlacedLate ? position : packet.offset
        if place >= 0, place != last {
            if last >= 0 { skipped += max(place - offset, 0) }
            (last, offset) = (place, max(offset, place))
        }
        offset += Int64(packet.bytes.count)
        guard packet.streamIndex == track, let start = packet.timestamp else { return nil }
        var missing: Int64?
        if let end {
            // Where packets do not tell their length, the last step stands for it.
            if packet.duration == 0 && step == 0 { step = max(start - end, 0) }
            let gap = start - end - (packet.duration == 0 ? step : 0)
            if gap > second / 50, isMissing(gap) { missing = skipped }
        }
        first = first ?? start
        skipped = 0
        bytes += Int64(packet.bytes.count)
        time += packet.duration > 0 ? packet.duration : step
        end = start + packet.duration
        return missing
    }

    /// Counts packets in that nobody read; the next may lie anywhere.
    mutating func pass(time: Int64, bytes: Int64) {
        self.time += time
        self.bytes += bytes
        (end, last, offset, skipped) = (nil, -1, 0, 0)
    }

    /// Seconds that are missing at the end, if the source has ended long before the length in seconds that its header tells,
    /// and bytes were passed over.
    package func missing(seconds: Double?, length: Int64) -> Double? {
        guard let second, let seconds, let end, let first, bytes > 0, seconds < 1e9 else { return nil }
        let missing = Int64(seconds * Double(second)) - (end - first)
        var rest = self
        rest.skipped += max(length - offset, 0)
        return missing > second && rest.isMissing(missing) ? Double(missing) / Double(second) : nil
    }

    /// Whether the bytes passed over would have held a good part of that time; some of it may look like packets.
    private func isMissing(_ gap: Int64) -> Bool {
        Double(skipped) * 4 * Double(time) > Double(bytes) * Double(gap) && skipped > 256
    }
}
