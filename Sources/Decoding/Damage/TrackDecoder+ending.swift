import Bytes
import CLibav
import Containers
import Demuxing
import Libav
import MediaTypes

/// Analyzes the end of a source: whether it is complete, truncated, or followed by other bytes.
extension TrackDecoder {
    /// Returns how many samples are missing between sample `position` and the end. They follow as silence.
    ///
    /// Throws if the source is truncated, unless damage is accepted.
    func fillEnd(position: Int64, _ shape: SampleShape) throws(MediaError) -> Int64 {
        guard !end.isKnown, !source.isEndless else { return 0 }
        end.isKnown = true
        end.isJunk = try hasJunkBehind(position)
        end.isPart =
            end.isJunk && TrailingGarbage.isPartOfFile(from: lost.frameEnd, of: source, demuxer.descriptor.framing)
        if end.isJunk {
            end.isTag = try TrailingGarbage.isTags(
                behind: lost.frameStart..<lost.frameEnd, of: source, track.codec)
        }
        if end.isPart { end.warnings.append(HarmlessEnd.warning) }
        if let truncation = try truncation(position) {
            guard policy == .accept else { throw truncation }
            end.warnings.append(Warning(.sourceTruncated, "\(truncation.sentence); the result ends there"))
            return 0
        }
        if let warning = try endWarning() { end.warnings.append(warning) }
        if let warning = try FollowingFile.warning(demuxer.whole, demuxer.descriptor) { end.warnings.append(warning) }
        var missing = end.isJunk || endsInFrame ? 0 : lost.behind(rate: shape.rate)
        if let seconds = continuity.missing(seconds: declared.seconds, length: source.length) {
            missing = max(missing, Int64(seconds * Double(shape.rate)))
        }
        // If nothing was lost before, a few samples less than declared are the encoder's error.
        if !end.isInFrame, lost.hasFound || health.isInterrupted,
            let whole = xing?.audible ?? declaredEnd(position, rate: shape.rate)
                ?? (declared.isExact && !hasPages ? declared.least : nil)
        {
            let isBelieved = xing.map { lost.allows(whole - position, end: $0.end ?? source.length) } ?? true
            if isBelieved { missing = max(whole - position, 0) } else { warn(promised: whole - position, shape) }
        }
        if hasPages, track.countsSamples {
            missing = try max(
                missing, places.pages.missing(behind: lost.expected, source, most: 30 * Int64(shape.rate)))
        }
        missing = min(max(missing, 0), Int64(1) << 55)
        if policy == .accept, missing > max(position, Int64(60 * shape.rate)) {
            warn(promised: missing, shape)
            return 0
        }
        silence.follow(missing, shape)
        return missing
    }

    private func warn(promised samples: Int64, _ shape: SampleShape) {
        guard samples > 0 else { return }
        let seconds = MediaTime(value: samples / Int64(shape.rate), timescale: 1).text
        let sentence =
            "the source's headers declare \(seconds) s more than could be decoded; the result ends without them"
        end.warnings.append(Warning(.sourceTruncated, sentence))
    }

    /// The end of the audio by the container, limited to the packets that were read, because a cut file may still declare its
    /// former length.
    private func declaredEnd(_ position: Int64, rate: Int) -> Int64? {
        guard let remaining = bounds.remaining else { return nil }
        let packets = av_rescale_q(health.time, track.timeBase, AVRational(num: 1, den: CInt(rate)))
        return min(position + remaining, max(packets, position))
    }

    /// The error if nothing could be decoded.
    func emptiness() throws(MediaError) -> MediaError {
        let operation = "decode the audio"
        if let code = health.lastFailure, health.isUnimplemented {
            return MediaError(
                .unsupportedFormat, operation,
                "the audio is a variant of \(track.codecName), which libav cannot decode",
                code: code)
        }
        // If several packets gave nothing, what is missing behind them is not the reason.
        let isUnreadable = fed.count > 1 && !health.hasDecoded && end.breakage == nil
        let words = health.lastFailure.map { ": \($0)" } ?? ""
        let shortage = try isUnreadable ? Truncation.found(source, demuxer.descriptor) : truncation(0)
        return shortage
            ?? MediaError(
                .corruptMedia, operation, "no audio could be decoded from the source (\(track.codecName))\(words)",
                code: health.lastFailure)
    }

    /// Whether the unreadable or undecodable bytes at the end are not audio.
    func hasJunkBehind(_ position: Int64) throws(MediaError) -> Bool {
        let isWhole = try Truncation.isWhole(source, demuxer.descriptor, xing)
        guard end.breakage != nil || health.endsShort(mayEndShort: false, isWhole: isWhole) || hasPartialFrame else {
            return false
        }
        return isComplete(position)
            || TrailingGarbage.isAll(
                from: lost.frameEnd, behind: lost.frameStart, of: source, track.codec, demuxer.descriptor.framing)
    }

    /// Whether a frame seems to begin after the last one, and to be longer than the remaining bytes.
    private var hasPartialFrame: Bool {
        TrailingGarbage.isPartialFrame(from: lost.frameEnd, of: source, track.codec, demuxer.descriptor.framing)
    }

    /// Corrects the last packet, before it is decoded.
    func repairLast() throws(MediaError) {
        dropJunk()
        end.isCompleted = false
        try completeLast()
    }

    /// Truncates the last packet of AC-3 to its frames, because the parser appends the bytes that follow to it, and the decoder
    /// refuses the whole packet. Removes the byte behind an odd number of GSM's blocks in WAV, which Asterisk counts in the
    /// size of the data (`update_header` in format_wav_gsm.c).
    private func dropJunk() {
        if track.codec == AV_CODEC_ID_GSM_MS, packet.bytes.count % Self.gsmBlock == 1 {
            packet.shorten(to: packet.bytes.count - 1)
        }
        guard FrameHeader.isDolby(track.codec), packet.offset >= 0,
            packet.offset + Int64(packet.bytes.count) >= source.length,
            let length = FrameHeader.dolbyUnitLength(packet.bytes), length < packet.bytes.count,
            TrailingGarbage.isAll(
                from: packet.offset + Int64(length), behind: packet.offset, of: source, track.codec,
                demuxer.descriptor.framing)
        else { return }
        packet.shorten(to: length)
    }

    /// Cuts the bytes before a frame of MPEG audio off its packet, all of which the decoder would refuse.
    func cutJunk() throws(MediaError) {
        // Times would no longer show what is lost.
        guard demuxer.descriptor.timing.isAddedUp, health.beginsWithJunk, packet.offset >= 0, !source.isEndless,
            let start = FrameHeader.startOfLast(track.codec, packet.bytes),
            try FrameChain.isReal(from: packet.offset + Int64(start), source, track.codec)
        else { return }
        packet.dropFirst(start)
        health.cutJunk()
    }

    /// Appends zeros to a last frame of MPEG audio that lacks only bytes behind its main data: a few, or, as LAME before 3.81 and
    /// other old encoders leave it, all of them. Elsewhere, a cut would look the same if much is in the bit reservoir.
    private func completeLast() throws(MediaError) {
        let count = packet.bytes.count
        guard track.codec == AV_CODEC_ID_MP3, let length = FrameHeader.length(track.codec, packet.bytes),
            length > count, demuxer.descriptor.cut != .betweenTransportPackets, try isAtEnd()
        else { return }
        try packet.extend(to: length)
        if let frame = LayerThreeFrame(packet.bytes), case let slot = count - frame.headBytes,
            case let unused = min(frame.begin + slot - frame.mainBytes, slot), unused >= 0,
            unused < Self.wordBytes || length - count <= Self.fewBytes
        {
            end.isCompleted = true
        } else {
            packet.shorten(to: count)
        }
    }

    /// The bytes of the words in which old encoders write.
    private static let wordBytes = 4
    private static let fewBytes = 16

    /// Whether libav has read all sound of the source. In MPEG-4, this is known by the index, which may follow the sound.
    private func isAtEnd() throws(MediaError) -> Bool {
        guard !source.isEndless else { return false }
        let stream = demuxer.stream(track.index)
        let count = avformat_index_get_entries_count(stream)
        if demuxer.descriptor.cut == .afterIndexedSamples, stream.pointee.nb_frames > 0, count > 0 {
            return avformat_index_get_entry(stream, count - 1)?.pointee.pos == packet.offset
        }
        do {
            return try bytePosition >= min(demuxer.descriptor.extent.end(source) ?? source.length, source.length)
        } catch { throw .unreadable(error) }
    }

    /// Whether nothing is left of the current packet.
    var isPadding: Bool { track.codec == AV_CODEC_ID_GSM_MS && packet.bytes.isEmpty }

    /// Bytes of a block of two GSM frames in WAV (`GSM_MS_BLOCK_SIZE` in libavcodec/msgsmdec.h).
    private static let gsmBlock = 65

    /// Whether the current packet should be decoded. A decoder would conceal the missing rest of a frame in which a recording
    /// ends.
    func isToDecode() throws(MediaError) -> Bool {
        var length = FrameHeader.length(track.codec, packet.bytes)
        // In other containers, the flag means a packet that is truncated at the end of the source.
        if case .betweenTransportPackets = demuxer.descriptor.cut {
            if packet.isCorrupt { lost.suspect() }
            if track.codec == AV_CODEC_ID_AAC { length = FrameHeader.adtsLength(packet.bytes) }
        }
        guard let length, length > packet.bytes.count, try isAtEnd(), try mayEndInFrame() else {
            end.isInFrame = false
            return true
        }
        end.isInFrame = true
        health.cutShort()
        lost.refused(packet)
        return false
    }

    /// A warning about an end that is not an error.
    func endWarning() throws(MediaError) -> Warning? {
        if isCutInFrame {
            return Warning(.sourceTruncated, "the recording ends inside a frame, which is left out")
        }
        if end.isCompleted { return HarmlessEnd.warning }
        if let warning = try Truncation.unmarkedEnd(source, demuxer.descriptor) { return warning }
        guard holdsAll, try Truncation.found(source, demuxer.descriptor) != nil else { return nil }
        return HarmlessEnd.warning
    }

    /// Whether a recording lacks only a part of its last frame.
    var isCutInFrame: Bool { health.endsShort(mayEndShort: false, isWhole: false) && endsInFrame }

    /// Whether at most a part of the last frame may be missing, in a recording that was stopped at any time.
    var endsInFrame: Bool {
        health.endsInOne && (end.isInFrame || HarmlessEnd.isRecording(source, demuxer.descriptor.cut))
    }

    /// Whether a source may end inside a frame: a recording that was stopped, or one that has all bytes that its header declares.
    private func mayEndInFrame() throws(MediaError) -> Bool {
        if HarmlessEnd.isRecording(source, demuxer.descriptor.cut) { return true }
        guard !hasPages else { return false }
        return try Truncation.isWhole(source, demuxer.descriptor, xing)
    }

    /// Whether the file contains the whole track although its headers declare more bytes.
    private var holdsAll: Bool {
        HarmlessEnd.holdsAll(demuxer.stream(track.index), of: source, demuxer.descriptor.cut)
    }

    /// Whether all samples that the container declares were read.
    private func isComplete(_ position: Int64) -> Bool {
        // PCM is counted by bytes, which may be declared but missing.
        demuxer.descriptor.length == .counted && declared.isExact && declared.least.map { position >= $0 } ?? false
    }

    /// Whether page numbers show what is missing.
    var hasPages: Bool { demuxer.descriptor.places == .pages }

    /// The error of a source that ends too early; `nil` if it does not.
    func truncation(_ position: Int64) throws(MediaError) -> MediaError? {
        if end.isJunk { return nil }
        if let breakage = end.breakage {
            guard case .truncated = breakage.reason else {
                return declared.shortfall(position: position, packetTime: health.time) ?? breakage
            }
            return breakage
        }
        if let truncation = try Truncation.found(source, demuxer.descriptor), !holdsAll { return truncation }
        if hasPartialFrame {
            return Truncation.failure("its last packet is incomplete")
        }
        let isWhole = try Truncation.isWhole(source, demuxer.descriptor, xing)
        let mayEndShort =
            declared.isExact || demuxer.descriptor.length == .countedIfPCM
            || isWhole && demuxer.descriptor.cut == .insideReads
        if health.endsShort(mayEndShort: mayEndShort, isWhole: isWhole) && !endsInFrame {
            return Truncation.failure("its last packet is incomplete")
        }
        // If Ogg ends with a complete last page, other pages are missing because they are broken.
        if isWhole && (lost.hasFound || hasPages) { return nil }
        return declared.shortfall(position: position, packetTime: health.time)
    }
}
