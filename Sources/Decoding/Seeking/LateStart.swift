import Bytes
import CLibav
import Containers
import Demuxing
import Libav
import MediaTypes

/// Starts decoding shortly before a range, at a packet from which the samples equal those of a decode from the start.
///
/// Earlier packets are read and counted, but not decoded. If anything unusual is found on the way, the caller decodes from the
/// start instead.
extension TrackDecoder {
    /// Decodes the first frame of the source, or the frame that contains a time. Returns the frame's first sample; `nil` if
    /// only a decode from the start can determine it.
    ///
    /// After `nil`, this decoder must not be used any more.
    func seek(to time: MediaTime, into frame: borrowing Frame) throws(MediaError) -> Int64? {
        guard let start = try find(time, into: frame), !lost.hasFound else { return nil }
        return start
    }

    private func find(_ time: MediaTime, into frame: borrowing Frame) throws(MediaError) -> Int64? {
        bounds.isLate = true
        if try seekByTime(before: time.sampleIndex(rate: max(track.rate, 1))) {
            // The first frame of the source defines the shape of all output.
            guard try next(into: frame), let start = frame.timestamp, frame.rate == track.rate,
                frame.channels == track.channels, (0...time.sampleIndex(rate: track.rate)).contains(start)
            else { return nil }
            return start
        }
        bounds.isLate = false
        guard try next(into: frame) else { return 0 }
        guard !lost.hasFound else { return nil }
        let target = time.sampleIndex(rate: frame.rate)
        // For earlier targets, decoding from the start costs less. Several edits are played from the start.
        guard declared.parts == nil, let seconds = PreRoll.seconds(track),
            target > Int64((seconds + 8) * frame.rate)
        else { return 0 }
        do {
            let shape = try frame.shape
            guard let clock = try startClock(frame), frame.rate == track.rate else { return nil }
            let position = try skip(to: target, preRoll: Int64(seconds * frame.rate), clock, into: frame)
            return frame.has(shape) ? position : nil
        } catch {
            switch error.reason {
            case .cancelled, .source: throw error
            // A decode from the start will find the damage again, and report it.
            default: return nil
            }
        }
    }

    /// Seeks to a frame at or before a sample, in formats whose timestamps count samples exactly.
    private func seekByTime(before sample: Int64) throws(MediaError) -> Bool {
        guard sample > Int64(track.rate), track.countsSamples, (track.startTime ?? 0) == 0 else { return false }
        guard case .timestamps(let codec) = demuxer.descriptor.seeking, track.codecID == codec else { return false }
        if codec == .flac {
            do {
                guard try FlacNumbers.areContinuous(source, demuxer.stream(track.index)) else { return false }
            } catch { throw .unreadable(error) }
        }
        places.restart()
        return try demuxer.seek(to: sample, stream: track.index)
    }

    /// Decodes the rest of the first packet and one more packet. This determines the decoder's position, and verifies the
    /// computed packet length; returns `nil` if that is wrong.
    private func startClock(_ first: borrowing Frame) throws(MediaError) -> SampleClock? {
        let rest = try Frame()
        let position = Int64(first.samples) + Int64(try decodeRest(into: rest) ?? 0)
        try feed()
        guard let count = try decodeRest(into: rest), count > 0, packet.trimming == nil, !packet.isDiscarded else {
            return nil
        }
        if lengths.isConstant {
            lengths.constant = count
        } else {
            guard fed.last == count else { return nil }
        }
        return SampleClock(position: position + Int64(count), behind: packet)
    }

    /// Receives all samples until the decoder needs a packet; `nil` if decoding fails.
    private func decodeRest(into frame: borrowing Frame) throws(MediaError) -> Int? {
        var count = 0
        while true {
            switch try decoder.receive(into: frame) {
            case .samples: count += frame.samples
            case .needsPacket: return count
            case .end, .failed: return nil
            }
        }
    }

    /// Reads packets without decoding them up to the one that contains a sample, then decodes from shortly before it.
    private func skip(
        to target: Int64, preRoll: Int64, _ start: SampleClock, into frame: borrowing Frame
    ) throws(MediaError) -> Int64? {
        var clock = start
        guard try jump(before: target - preRoll, &clock) else { return nil }
        while clock.position <= target, try readTrack() {
            if beginsVorbisLink {
                guard try keepLink(at: clock.position) else { return nil }
                continue
            }
            guard !isBehindGap(clock.packetEnd), let samples = lengths.samples(packet), !packet.changesParameters
            else { return nil }
            let begin = clock.position
            if let shift = held.granuleShift, let time = packet.timestamp, time - shift != begin { return nil }
            clock.read(packet, samples: samples)
            // libav increases a frame's timestamp by the number of samples that it drops from its packet.
            try held.ring.append(packet, start: begin - clock.dropped)
            held.ring.forget(before: target - preRoll, keeping: PreRoll.packets)
        }
        decoder.restart(rate: frame.rate)
        guard sendLink() else { return nil }
        lost.restart()
        places.restart()
        bounds.isLate = true
        return try decodeRing(to: target, into: frame)
    }

    /// Whether the index of an AVI file lacks a chunk before the current packet. `end` is the end time of the packet before it.
    private func isBehindGap(_ end: Int64?) -> Bool {
        guard demuxer.descriptor.places == .chunkIndex, let end, let time = packet.timestamp else { return false }
        return time > end && !places.isOvercounted(packet)
    }

    /// Decodes up to the frame that contains a sample; `nil` if the decoder's position and the clock's differ.
    private func decodeRing(to target: Int64, into frame: borrowing Frame) throws(MediaError) -> Int64? {
        guard try next(into: frame), var position = frame.timestamp else { return nil }
        let following = try Frame()
        while position + Int64(frame.samples) <= target {
            // The source may end before the target.
            guard try next(into: following) else { return position }
            position += Int64(frame.samples)
            frame.take(following)
            if held.ring.count > 0, let time = frame.timestamp, time != position { return nil }
        }
        return position
    }
}
