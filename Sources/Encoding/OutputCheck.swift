package import Bytes
import CLibav
import CZlib
import Containers
import Demuxing
package import Libav
package import Lifecycle
import MediaTypes

/// Checks a finished file by reading its headers and every packet, without decoding.
package struct OutputCheck {
    private let settings: EncodingSettings
    private let samples: Int64
    private let written: PacketTally

    /// The expected contents of one track.
    package init(_ settings: EncodingSettings, samples: Int64, written: PacketTally) {
        self.settings = settings
        self.samples = samples
        self.written = written
    }

    /// Ends writing, and throws unless the file opens and each track matches its settings, its number of samples and the written
    /// packets. Returns the MD5 that FLAC declares for the samples of the first track, in hexadecimal.
    @discardableResult
    package static func run(_ store: any RandomAccessOutput, _ checks: [OutputCheck], stop: CancellationFlag)
        throws(MediaError) -> String?
    {
        try store.endWriting()
        let settings = checks[0].settings
        let container = settings.format.container
        if case .bytes = container.check {
            try checks[0].checkBytes(store)
            return nil
        }
        let demuxer: Demuxer
        do { demuxer = try Demuxer.open(StoredSource(store), as: container.demuxer, stop: stop) } catch {
            if case .cancelled = error.reason { throw error }
            throw failure("cannot be opened: \(error.sentence)")
        }
        let tracks = demuxer.tracks
        guard tracks.count == checks.count else {
            throw failure(checks.count == 1 ? "has no single track" : "has \(tracks.count) of \(checks.count) tracks")
        }
        for (check, track) in zip(checks, tracks) { try check.checkHeaders(track) }
        if let truncation = try Truncation.found(StoredSource(store), demuxer.descriptor) {
            throw failure("is incomplete: \(truncation.sentence)")
        }
        let md5 = FlacHeader(demuxer.stream(tracks[0].index))?.md5
        if container.check.sumsFrames {
            try checks[0].checkFrames(StoredSource(store), stop: stop)
            return md5
        }
        let found = try tally(demuxer, tracks)
        for (index, check) in checks.enumerated() { try check.checkPackets(found[index], tracks[index]) }
        return md5
    }

    private func checkHeaders(_ track: AudioTrack) throws(MediaError) {
        let codec = settings.codecID
        guard track.codec == codec else { throw Self.failure("has the codec \(track.codecName)") }
        guard track.rate == rate else { throw Self.failure("has a sample rate of \(track.rate) Hz") }
        guard track.channels == settings.shape.channels else { throw Self.failure("has \(track.channels) channels") }
        if let slack = headerSlack { try checkLength(track, slack: slack) }
    }

    /// The rate of the decoded samples in Hz.
    private var rate: Int { settings.codec.packets.decodedRate ?? settings.shape.rate }

    private func checkLength(_ track: AudioTrack, slack: Int64) throws(MediaError) {
        guard let length = track.duration.flatMap({ track.samples($0) }) else {
            throw Self.failure("does not declare its length")
        }
        let declared = length - (settings.format.container.gapless == .granules ? track.countedDelay : 0)
        let expected = av_rescale_rnd(samples, Int64(track.rate), Int64(settings.shape.rate), AV_ROUND_UP)
        guard (expected...expected + slack).contains(declared) else {
            throw Self.failure("declares \(declared) samples, not \(expected)")
        }
    }

    /// The samples by which a header may exceed the true length, because it counts whole frames; `nil` if it declares no
    /// length.
    private var headerSlack: Int64? {
        guard settings.codec.packets.isLengthDeclared else { return nil }
        let isPCM = settings.codec.kind == .pcm
        // A packet of Opus may be longer than the usual one.
        let packet = Int64((settings.encoder.frameDuration ?? 0) / 1000 * Double(rate))
        return switch settings.format.container.length {
        case .undeclared: nil
        case .exact: 0
        case .within(let samples): samples
        case .exactForPCM: isPCM ? 0 : nil
        case .packets(let samples): isPCM ? 0 : max(samples, packet)
        }
    }

    /// Tallies the packets of each track.
    private static func tally(
        _ demuxer: borrowing Demuxer, _ tracks: [AudioTrack]
    ) throws(MediaError) -> [PacketTally] {
        var found = [PacketTally](repeating: PacketTally(), count: tracks.count)
        let packet = try Packet()
        do {
            while try demuxer.next(into: packet) {
                if let index = tracks.firstIndex(where: { $0.index == packet.streamIndex }) { found[index].add(packet) }
                packet.clear()
            }
        } catch {
            if case .cancelled = error.reason { throw error }
            throw failure("cannot be read to its end: \(error.sentence)")
        }
        return found
    }

    private func checkPackets(_ found: PacketTally, _ track: AudioTrack) throws(MediaError) {
        guard found.corrupt == 0 else { throw Self.failure("has \(found.corrupt) truncated packets") }
        guard !found.wentBack else { throw Self.failure("has packets with decreasing time stamps") }
        guard !settings.codec.packets.areKept || found.count == written.count else {
            throw Self.failure("has \(found.count) packets of the \(written.count) that were written")
        }
        let headers = settings.format.container.check.headerBytes * Int64(found.count)
        guard found.bytes == written.bytes + headers else {
            throw Self.failure("has \(found.bytes) bytes of audio, not \(written.bytes + headers)")
        }
        try checkSpan(found, track)
    }

    /// Compares the time from the first packet to the end of the last one. A container may not declare the last packet's
    /// duration.
    private func checkSpan(_ found: PacketTally, _ track: AudioTrack) throws(MediaError) {
        guard let span = found.span.flatMap({ track.samples($0) }), let wanted = written.span else { return }
        let expected = av_rescale_rnd(wanted, Int64(track.rate), Int64(settings.shape.rate), AV_ROUND_UP)
        let slack = max(Int64(track.rate) / 10, written.longest * Int64(track.rate) / Int64(settings.shape.rate), 8192)
        guard abs(span - expected) <= slack else {
            throw Self.failure("spans \(span) samples, not \(expected)")
        }
    }

    private func checkBytes(_ store: any RandomAccessOutput) throws(MediaError) {
        let length = (try? store.length) ?? -1
        let expected = samples * Int64(settings.frameBytes)
        guard length == expected else { throw Self.failure("has \(length) bytes, not \(expected)") }
    }

    /// Compares the frames of a FLAC file with those that were written.
    private func checkFrames(_ file: StoredSource, stop: CancellationFlag) throws(MediaError) {
        do {
            guard let start = try FlacBlocks(file)?.end else { throw Self.failure("has no metadata blocks") }
            var (sum, offset) = (UInt(0), start)
            var window = SourceWindow(file)
            while offset < file.length {
                if stop.isRaised { throw MediaError.stopped }
                let bytes = try window.bytes(at: offset, atLeast: 1)
                guard !bytes.isEmpty else { break }
                sum = crc32(sum, bytes.baseAddress, uInt(bytes.count))
                offset += Int64(bytes.count)
            }
            guard offset - start == written.bytes, sum == written.sum else {
                throw Self.failure("contains other frames than were written")
            }
        } catch let error as MediaError { throw error } catch {
            throw MediaError(.store(error), "check the output", "the output could not be read: \(error)")
        }
    }

    private static func failure(_ why: String) -> MediaError {
        MediaError(.internal, "check the output", "the finished file \(why)")
    }
}

extension OutputCheckKind {
    /// Whether the bytes of all frames are summed.
    var sumsFrames: Bool { if case .flacFrames = self { true } else { false } }

    /// The size of the header before each packet in the file.
    fileprivate var headerBytes: Int64 { if case .packets(let bytes) = self { bytes } else { 0 } }
}
