import CLibav
import Containers
package import Demuxing
package import Libav

/// Detects missing packets of a track, in containers whose demuxers silently skip what they cannot read.
///
/// A gap in time alone is not damage: recorders leave one during silence. It is damage if bytes were skipped as well, and they
/// would have held a good part of that time.
package struct Continuity {
    /// Units of the time base a second; `nil` if this container is not checked.
    private let second: Int64?
    private let track: Int
    private let isPlacedLate: Bool
    /// The end of the track's last packet, the time of its first one, and the step between packets.
    private var end: Int64?
    private var first: Int64?
    private var step: Int64 = 0
    /// The offset of the last packet of any stream, and the offset after it and the packets that share its offset.
    private var last: Int64 = -1
    private var offset: Int64 = 0
    /// The bytes and the duration of the track so far.
    private var bytes: Int64 = 0
    private var time: Int64 = 0
    /// Bytes skipped since the track's last packet.
    private var skipped: Int64 = 0

    /// Checks nothing if the container's timing or the demuxer does not reveal skipped bytes.
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

    /// Reads a packet of any stream. Returns the number of skipped bytes if audio is missing before it; otherwise `nil`.
    /// `position` is where libav reads next.
    package mutating func read(_ packet: borrowing Packet, position: Int64) -> Int64? {
        guard let second else { return nil }
        // For ASF, libav's packet offset is late by one container packet.
        let place = isPlacedLate ? position : packet.offset
        if place >= 0, place != last {
            if last >= 0 { skipped += max(place - offset, 0) }
            (last, offset) = (place, max(offset, place))
        }
        offset += Int64(packet.bytes.count)
        guard packet.streamIndex == track, let start = packet.timestamp else { return nil }
        var missing: Int64?
        var interval = step
        if let end {
            // If packets have no duration, the last step between them is used instead.
            if packet.duration == 0 && step == 0 { step = max(start - end, 0) }
            let gap = start - end - (packet.duration == 0 ? step : 0)
            if gap > second / 50, isMissing(gap) {
                missing = skipped
            } else {
                // Packets of Vorbis have no duration in NUT, and the first ones are shorter than others.
                interval = min(max(start - end, 0), second / 10)
            }
        }
        first = first ?? start
        skipped = 0
        bytes += Int64(packet.bytes.count)
        time += packet.duration > 0 ? packet.duration : interval
        end = start + packet.duration
        return missing
    }

    /// Counts packets that were skipped by a seek. The next packet may have any offset.
    mutating func pass(time: Int64, bytes: Int64) {
        self.time += time
        self.bytes += bytes
        (end, last, offset, skipped) = (nil, -1, 0, 0)
    }

    /// The seconds missing at the end, if the source ends long before the declared duration and bytes were skipped; otherwise
    /// `nil`.
    package func missing(seconds: Double?, length: Int64) -> Double? {
        guard let second, let seconds, let end, let first, bytes > 0, seconds < 1e9 else { return nil }
        let missing = Int64(seconds * Double(second)) - (end - first)
        var rest = self
        rest.skipped += max(length - offset, 0)
        return missing > second && rest.isMissing(missing) ? Double(missing) / Double(second) : nil
    }

    /// Whether the skipped bytes would have held a good part of that time. Some of them may look like packets.
    private func isMissing(_ gap: Int64) -> Bool {
        Double(skipped) * 4 * Double(time) > Double(bytes) * Double(gap) && skipped > 256
    }
}
