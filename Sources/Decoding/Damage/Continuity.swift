package import Bytes
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
    private let source: any ByteSource
    /// What shows a loss before the first packet of any stream; `nil` once that was read.
    private var unchecked: LostStart?
    /// That loss, and the time of that packet in the track's time base, until the track's first packet.
    private var lostStart: (bytes: Int64, time: Int64, isFromZero: Bool)?
    private let timeBase: AVRational
    private let context: UnsafeMutablePointer<AVFormatContext>
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

    /// Checks nothing if the container's timing or the demuxer, which must outlive this value, does not reveal skipped bytes.
    package init(_ demuxer: borrowing Demuxer, _ track: AudioTrack) {
        let rate = track.timeBase.num > 0 ? Int64(track.timeBase.den / track.timeBase.num) : 0
        switch demuxer.descriptor.timing {
        case .addedUp, .stamped: (unchecked, isPlacedLate) = (nil, false)
        case .placed(let start): (unchecked, isPlacedLate) = (start, false)
        case .placedLate(let start): (unchecked, isPlacedLate) = (start, true)
        }
        second = unchecked != nil && demuxer.givesAllPackets && rate >= 100 ? rate : nil
        self.track = track.index
        source = demuxer.bytes
        (timeBase, context) = (track.timeBase, demuxer.context)
    }

    /// A part of the track that was skipped before a packet.
    package struct Loss {
        /// The number of skipped bytes.
        package let bytes: Int64
        /// The time at which the sound began, if the part was before the first packet.
        package let start: Int64?
    }

    /// Reads a packet of any stream. Returns what is missing before it, if anything. `position` is where libav reads next.
    package mutating func read(_ packet: borrowing Packet, position: Int64) throws(MediaError) -> Loss? {
        guard let second else { return nil }
        // For ASF, libav's packet offset is late by one container packet.
        let place = isPlacedLate ? position : packet.offset
        if let start = unchecked, !source.isEndless {
            unchecked = nil
            let itsTimeBase = context.pointee.streams[packet.streamIndex]!.pointee.time_base
            let time = packet.timestamp.map { av_rescale_q($0, itsTimeBase, timeBase) } ?? 0
            do { lostStart = try (start.bytes(source, before: packet.offset), time, start.isFromZero) } catch {
                throw .unreadable(error)
            }
        }
        if place >= 0, place != last {
            if last >= 0 { skipped += max(place - offset, 0) }
            (last, offset) = (place, max(offset, place))
        }
        offset += Int64(packet.bytes.count)
        guard packet.streamIndex == track, let start = packet.timestamp else { return nil }
        var missing = lossAtStart(packet, start)
        var interval = step
        if let end {
            // If packets have no duration, the last step between them is used instead.
            if packet.duration == 0 && step == 0 { step = max(start - end, 0) }
            let gap = start - end - (packet.duration == 0 ? step : 0)
            if gap > second / 50, isMissing(gap) {
                missing = Loss(bytes: skipped, start: nil)
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

    /// What is missing before the track's first packet, which has a timestamp.
    private mutating func lossAtStart(_ packet: borrowing Packet, _ start: Int64) -> Loss? {
        defer { lostStart = nil }
        guard let second, let (lost, time, isFromZero) = lostStart else { return nil }
        let duration = Double(packet.duration > 0 ? packet.duration : usual) / Double(max(packet.bytes.count, 1))
        var begin = start
        // A recording may begin late, too. The bytes tell about how long the missing part was, or more, if other streams have some of
        // them. Then the first packet of all streams shows when the sound can be read again.
        if lost > Self.fewBytes, start - time <= second / 2 {
            let length = min(Double(lost) * duration, 1e15)
            begin = isFromZero && Double(start) <= 8 * length ? 0 : start - Int64(length)
        } else if skipped > Self.fewBytes, Double(skipped) * duration >= Double(start - time) {
            begin = time
        }
        return start - begin > second / 50 ? Loss(bytes: max(lost, skipped), start: begin) : nil
    }

    /// Counts packets that were skipped by a seek. The next packet may have any offset.
    mutating func pass(time: Int64, bytes: Int64) {
        self.time += time
        self.bytes += bytes
        (end, last, offset, skipped) = (nil, -1, 0, 0)
        (unchecked, lostStart) = (nil, nil)
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

    private static let fewBytes = 256

    /// About the duration of a packet of Vorbis, which may have none.
    private var usual: Int64 { (second ?? 0) / 50 }

    /// Whether the skipped bytes would have held a good part of that time. Some of them may look like packets.
    private func isMissing(_ gap: Int64) -> Bool {
        // The first packet of Vorbis may have no duration.
        Double(skipped) * 4 * Double(time > 0 ? time : usual) > Double(bytes) * Double(gap) && skipped > Self.fewBytes
    }
}
