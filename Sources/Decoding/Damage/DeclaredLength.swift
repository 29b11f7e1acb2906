package import Bytes
import CLibav
import Containers
package import Demuxing
package import Libav

/// The length of the audio that a container declares.
package struct DeclaredLength {
    /// The duration in seconds, for display; `nil` if it is unknown or an estimate.
    package let seconds: Double?
    /// The minimum number of samples; `nil` if the container declares no exact number.
    let least: Int64?
    /// Whether `least` is exact except for a few samples.
    let isExact: Bool
    /// The number of audible samples, if only padding follows that libav does not remove.
    package let audible: Int64?
    /// Samples before the first audible one that libav nevertheless returns.
    let lead: Int64
    /// The minimum sum of packet durations, in units of the time base.
    private let leastPacketTime: Int64?

    /// A source that cannot be read declares no length here; the decoder reports the error.
    package init(_ source: any ByteSource, _ demuxer: borrowing Demuxer, _ track: AudioTrack) {
        let descriptor = demuxer.descriptor
        // A read error here is reported by the decoder.
        if descriptor.padding == .musepackHeader, let header = try? MusepackHeader(source) {
            seconds = Double(header.samples) / Double(max(track.rate, 1))
            (least, audible, isExact) = (header.samples, header.samples, true)
            (lead, leastPacketTime) = (header.delay, nil)
            return
        }
        lead = 0
        let isKnown = !demuxer.durationIsEstimate
        let duration = isKnown ? track.duration.flatMap { $0 > 0 ? $0 : nil } : nil
        let samples = duration.flatMap { track.samples($0) }
        seconds =
            isKnown
            ? duration.map { Double($0) * av_q2d(track.timeBase) } ?? demuxer.duration.map { Double($0) / 1_000_000 }
            : nil
        let counted = track.countsSamples && Self.isCounted(descriptor.length, track) ? samples : nil
        switch descriptor.padding {
        case .editList:
            // The length of a fragmented file grows while it is read.
            let isFragmented = demuxer.stream(track.index).pointee.nb_frames == 0
            let whole =
                isFragmented
                ? nil
                : Self.gaplessCount(demuxer, atMost: samples.map { $0 + Int64(track.rate) }) ?? Self.edited(
                    source, demuxer, track) ?? samples
            // Edit lists that declare a little more than there is are common. Ones that declare another length mean damage.
            least = isFragmented ? nil : samples.map { min($0, whole ?? $0) }.map { $0 - max($0 / 20, 8192) }
            audible = whole
            isExact = false
        case .granules where track.codecID.descriptor.countsGranules:
            audible = nil
            // A lost page is thousands of samples. A stream that was cut out of another may lack a few at its start.
            least = samples.map { $0 - track.countedDelay - 2048 }
            isExact = least != nil
        case .packetTable:
            // libav adds up the packets, including delay and padding.
            audible = track.isPCM ? nil : (try? PacketTable(source))?.audible
            (least, isExact) = (counted, counted != nil)
        case .dataSize:
            audible = samples.flatMap { $0 > 0 ? $0 : nil }
            (least, isExact) = (counted, counted != nil)
        case .libav, .lameTag, .granules, .codecHeader, .musepackHeader:
            audible = nil
            (least, isExact) = (counted, counted != nil)
        }
        // The number of frames in a Xing header. Some encoders include the header itself.
        let frame = av_rescale_q(1152, AVRational(num: 1, den: CInt(max(track.rate, 1))), track.timeBase)
        leastPacketTime = descriptor.padding == .lameTag ? duration.map { $0 - frame } : nil
    }

    /// Whether the container's header counts samples, not whole packets, and not an encoder's estimate.
    private static func isCounted(_ length: LengthPromise, _ track: AudioTrack) -> Bool {
        switch length {
        case .guessed, .rounded: false
        case .counted: true
        case .countedIfPCM: track.isPCM
        }
    }

    /// The number of samples in an `iTunSMPB` tag: its fourth hexadecimal number.
    ///
    /// A cut file may have kept the tag of the whole, which counts more samples than there are.
    private static func gaplessCount(_ demuxer: borrowing Demuxer, atMost most: Int64?) -> Int64? {
        guard let entry = av_dict_get(demuxer.context.pointee.metadata, "iTunSMPB", nil, 0) else { return nil }
        let fields = String(cString: entry.pointee.value).split(separator: " ")
        guard fields.count >= 4, let count = Int64(fields[3], radix: 16), count > 0, count <= most ?? .max
        else { return nil }
        return count
    }

    /// The length of a track whose edit list is slightly too coarse to declare it.
    private static func edited(
        _ source: any ByteSource, _ demuxer: borrowing Demuxer, _ track: AudioTrack
    ) -> Int64? {
        let frameLength = demuxer.stream(track.index).pointee.codecpar.pointee.frame_size
        // A read error here is reported by the decoder.
        guard let edit = try? MovieEdit(source, track: track.index) else { return nil }
        // libav's length then counts from another position.
        let declared = edit.beginsLate ? edit.declaredLength(rate: track.rate) : nil
        return edit.exactLength(rate: track.rate, frameLength: Int64(frameLength)) ?? declared
    }

    /// The error if fewer samples or packets were read than declared; `nil` if not.
    package func shortfall(position: Int64, packetTime: Int64) -> MediaError? {
        if let least, position < least {
            return Truncation.failure("it has \(position) samples, and its headers declare \(least)")
        }
        if let leastPacketTime, packetTime < leastPacketTime {
            return Truncation.failure("its header declares more frames than it has")
        }
        return nil
    }
}
