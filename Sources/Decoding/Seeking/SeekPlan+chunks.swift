import Bytes
import CLibav
import Containers
import Demuxing
import Libav

/// Seeks in containers that wrap frames of constant length in their own headers.
extension TrackDecoder {
    /// Seeks by Flash video tags, each of which contains a frame.
    func jumpByTags(before sample: Int64, _ clock: inout SampleClock) throws(MediaError) -> Bool {
        guard let length = fixedLength else { return true }
        let codec = track.codec
        let walk: FlashWalk
        do {
            // The first tag is that of the current packet.
            walk = try FlashWalk(
                source, from: packet.offset, samples: length, atMost: sample - clock.position + length
            ) { bytes in
                // The first byte is the codec. For AAC, the second one distinguishes frames from a configuration.
                if codec == AV_CODEC_ID_AAC { return bytes.count > 2 && bytes[1] == 1 }
                let frame = UnsafeBufferPointer(rebasing: bytes.dropFirst())
                return FrameWalk.frame(codec, frame, at: 0, Int(length))?.bytes == frame.count
            }
        } catch { throw .unreadable(error) }
        guard walk.samples > length else { return true }
        return try jump(over: walk.samples - length, bytes: walk.bytes, to: walk.offset, &clock)
    }

    /// Seeks by MPEG-TS PES packets that begin with a frame.
    func jumpByUnits(before sample: Int64, _ clock: inout SampleClock) throws(MediaError) -> Bool {
        guard let length = fixedLength, let first = firstOffset, first >= 0 else { return true }
        let walk: TransportWalk
        do {
            walk = try TransportWalk(
                source, track, from: first, samples: length, atMost: sample + fedSamples - clock.position)
        } catch { throw .unreadable(error) }
        let passed = walk.samples - fedSamples
        guard passed > 0 else { return true }
        return try jump(over: passed, bytes: walk.offset - first, to: walk.offset, &clock)
    }

    private func jump(
        over samples: Int64, bytes: Int64, to offset: Int64, _ clock: inout SampleClock
    ) throws(MediaError) -> Bool {
        continuity.pass(time: rescaled(samples), bytes: bytes)
        return try jump(to: offset, passing: samples, &clock)
    }

    /// Seeks by the index of an AVI file, which is in memory.
    func jumpByChunks(before sample: Int64, _ clock: inout SampleClock) throws(MediaError) -> Bool {
        let stream = demuxer.stream(track.index)
        let (fixed, codec) = (fixedLength, track.codec)
        guard fixed != nil || track.isPCM, let first = firstOffset, packet.offset > first else { return true }
        let walk: ChunkWalk
        do {
            walk = try ChunkWalk(source, stream, atMost: sample + fedSamples - clock.position) { size, head in
                guard let fixed else { return Int64(av_get_audio_frame_duration2(stream.pointee.codecpar, CInt(size))) }
                return codec == AV_CODEC_ID_AAC || FrameHeader.length(codec, head) == size ? fixed : nil
            }
        } catch { throw .unreadable(error) }
        guard let last = walk.last, let begin = avformat_index_get_entry(stream, 0)?.pointee,
            ChunkWalk.body(of: begin) == first, ChunkWalk.body(of: last.entry) > packet.offset
        else { return true }
        // For samples without frames, libav's index counts bytes, and libav seeks by their number.
        let time = fixed == nil ? rescaled(last.samples) : last.entry.timestamp
        guard try demuxer.seek(to: time, stream: track.index) else { return false }
        pass(last.samples - fedSamples, &clock)
        guard try readTrack(), packet.offset == ChunkWalk.body(of: last.entry) else { return false }
        return try hold(&clock)
    }
}
