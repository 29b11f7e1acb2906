import Bytes
import CLibav
import Containers
import Demuxing
import Libav

/// Seeks to a sample without reading the packets before it, in containers that show how many there are.
extension TrackDecoder {
    /// Seeks to a packet at or before a sample, if there is a reliable method, and sets the clock. Returns `false` if the
    /// method failed; the position in the source is then undefined.
    func jump(before sample: Int64, _ clock: inout SampleClock) throws(MediaError) -> Bool {
        guard sample > clock.position else { return true }
        switch demuxer.descriptor.seeking {
        case .counting, .timestamps: return true
        // In this format, only the first frame of a PES packet has an offset.
        case .elementaryPackets: return try jumpByUnits(before: sample, &clock)
        case _ where packet.offset < 0: return true
        case .sampleIndex: return try jumpByIndex(before: sample, &clock)
        case .frameHeaders: return try jumpByHeaders(before: sample, &clock)
        case .blockHeaders: return try jumpByBlocks(before: sample, &clock)
        case .granules: return try jumpByGranule(before: sample, &clock)
        case .clusters: return try jumpByCluster(before: sample, &clock)
        case .flashTags: return try jumpByTags(before: sample, &clock)
        case .chunkIndex: return try jumpByChunks(before: sample, &clock)
        }
    }

    /// Seeks by the index of an MP4 file, which is in memory. It does not contain fragments.
    private func jumpByIndex(before sample: Int64, _ clock: inout SampleClock) throws(MediaError) -> Bool {
        let stream = demuxer.stream(track.index)
        guard stream.pointee.nb_frames > 0 else { return true }
        let count = avformat_index_get_entries_count(stream)
        let last = av_index_search_timestamp(stream, packet.pointer.pointee.dts, CInt(AVSEEK_FLAG_ANY))
        guard last >= 0, last + 1 < count, let here = avformat_index_get_entry(stream, last)?.pointee,
            here.pos == packet.offset, let next = avformat_index_get_entry(stream, last + 1)?.pointee
        else { return true }
        let wanted: CInt
        let fixed = fixedLength
        if let fixed {
            wanted = CInt(clamping: Int64(last) + 1 + (sample - clock.position) / fixed)
        } else {
            guard track.countsSamples else { return true }
            let time = next.timestamp + (sample - clock.position)
            wanted = av_index_search_timestamp(stream, time, CInt(AVSEEK_FLAG_BACKWARD | AVSEEK_FLAG_ANY))
        }
        // libav computes the start of the edit differently, so it lands a packet or two beside the requested one.
        let aim = min(wanted, count - 1) - 4
        guard aim > last + 4, let entry = avformat_index_get_entry(stream, aim)?.pointee else { return true }
        guard try demuxer.seek(to: entry.timestamp, stream: track.index), try readTrack() else { return false }
        let landed = av_index_search_timestamp(stream, packet.pointer.pointee.dts, CInt(AVSEEK_FLAG_ANY))
        guard landed > last, landed <= wanted, let found = avformat_index_get_entry(stream, landed)?.pointee,
            found.pos == packet.offset
        else { return false }
        pass(fixed.map { Int64(landed - last - 1) * $0 } ?? found.timestamp - next.timestamp, &clock)
        return try hold(&clock)
    }

    /// The samples of every packet; `nil` if they differ.
    var fixedLength: Int64? {
        if let constant = lengths.constant, lengths.isConstant { return Int64(constant) }
        return FrameHeader.isMPEG(track.codec) || track.codec == AV_CODEC_ID_AC3 ? fed.last.map(Int64.init) : nil
    }

    /// Seeks by the headers of contiguous frames.
    private func jumpByHeaders(before sample: Int64, _ clock: inout SampleClock) throws(MediaError) -> Bool {
        guard let samples = fixedLength ?? fed.last.map(Int64.init), samples > 0 else { return true }
        let walk: FrameWalk
        do {
            walk = try FrameWalk(
                source, codec: track.codec, from: packet.offset + Int64(packet.bytes.count), samples: Int(samples),
                atMost: sample - clock.position)
        } catch { throw .unreadable(error) }
        guard walk.samples > 0 else { return true }
        return try jump(to: walk.offset, passing: walk.samples, &clock)
    }

    /// Seeks by WavPack block headers, each of which contains the index of its first sample.
    private func jumpByBlocks(before sample: Int64, _ clock: inout SampleClock) throws(MediaError) -> Bool {
        let walk: WavPackWalk
        do {
            walk = try WavPackWalk(
                source, from: packet.offset + Int64(packet.bytes.count), atMost: sample - clock.position)
        } catch { throw .unreadable(error) }
        return walk.samples == 0 ? true : try jump(to: walk.offset, passing: walk.samples, &clock)
    }

    /// Seeks to the byte offset of a packet that begins `samples` samples later.
    func jump(
        to offset: Int64, passing samples: Int64, _ clock: inout SampleClock
    ) throws(MediaError) -> Bool {
        guard try demuxer.seek(toByte: offset, stream: track.index, passing: samples) else { return false }
        places.move(to: offset)
        pass(samples, &clock)
        guard try readTrack(), packet.offset == offset else { return false }
        return try hold(&clock)
    }

    func pass(_ samples: Int64, _ clock: inout SampleClock) {
        clock.pass(samples)
        health.pass(rescaled(samples))
    }

    /// Converts samples to units of the track's time base.
    func rescaled(_ samples: Int64) -> Int64 {
        av_rescale_q(samples, AVRational(num: 1, den: CInt(track.rate)), track.timeBase)
    }

    /// Samples of the packets that were sent to the decoder.
    var fedSamples: Int64 { fixedLength.map { $0 * fed.count } ?? fed.samples }

    /// Holds the packet just read, which is the first one after a seek, for decoding.
    func hold(_ clock: inout SampleClock) throws(MediaError) -> Bool {
        guard let samples = lengths.samples(packet) else { return false }
        let begin = clock.position
        clock.read(packet, samples: samples)
        try held.ring.append(packet, start: begin)
        return true
    }
}
