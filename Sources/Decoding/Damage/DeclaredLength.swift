package import Bytes
import CLibav
import Containers
package import Demuxing
package import Libav

/// How long a container says that its audio is.
package struct DeclaredLength {
    /// Seconds for display, unless unknown or a guess.
    package let seconds: Double?
    /// Samples that must come at least; nothing if the container makes no exact promise.
    let least: Int64?
    /// Whether `least` is exact but for a few samples.
    let isExact: Bool
    /// Samples after which only padding follows that libav does not cut off itself.
    package let audible: Int64?
    /// Samples before the first to be heard that libav gives all the same.
    let lead: Int64
    /// The sum of packet durations that must come at least, in units of the time base.
    private let leastPacketTime: Int64?

    package init(_ source: any ByteSource, _ demuxer: borrowing Demuxer, _ track: AudioTrack) {
        let descriptor = demuxer.descriptor
        // What cannot be read here cannot be decoded either, which is told there.
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
            // A fragmented file counts on while it is read.
            let isFragmented = demuxer.stream(track.index).pointee.nb_frames == 0
            let whole =
                isFragmented
                ? nil
                : Self.gaplessCount(demuxer, atMost: samples.map { $0 + Int64(track.rate) }) ?? Self.edited(
                    source, demuxer, track) ?? samples
            // Edit lists that mean a little more than there is are common; ones that mean another length are damage.
            least = isFragmented ? nil : samples.map { min($0, whole ?? $0) }.map { $0 - max($0 / 20, 8192) }
            audible = whole
            isExact = false
        case .granules where track.codecID.descriptor.countsGranules:
            audible = nil
            // A page lost is thousands of samples; a few may be missing at the start of a stream that was cut out of another.
            least = samples.map { $0 - track.countedDelay - 2048 }
            isExact = least != nil
        case .packetTable:
            // libav adds up the packets, delay and padding among them.
            audible = track.isPCM ? nil : (try? PacketTable(source))?.audible
            (least, isExact) = (counted, counted != nil)
        case .dataSize:
            audible = samples.flatMap { $0 > 0 ? $0 : nil }
            (least, isExact) = (counted, counted != nil)
        case .libav, .lameTag, .granules, .codecHeader, .musepackHeader:
            audible = nil
            (least, isExact) = (counted, counted != nil)
        }
        // The count of frames in a Xing header; some encoders count the header itself.
        let frame = av_rescale_q(1152, AVRational(num: 1, den: CInt(max(track.rate, 1))), track.timeBase)
        leastPacketTime = descriptor.padding == .lameTag ? duration.map { $0 - frame } : nil
    }

    /// Whether the container's header counts the samples, and not whole packets or an encoder's guess.
    private static func isCounted(_ length: LengthPromise, _ track: AudioTrack) -> Bool {
        switch length {
        case .guessed, .rounded: false
        case .counted: true
        case .countedIfPCM: track.isPCM
        }
    }

    /// The count of samples in an `iTunSMPB` tag: its fourth hexadecimal number.
    ///
    /// A file that was cut may have kept the tag of the whole, which counts more than there is.
    private static func gaplessCount(_ demuxer: borrowing Demuxer, atMost most: Int64?) -> Int64? {
        guard let entry = av_dict_get(demuxer.context.pointee.metadata, "iTunSMPB", nil, 0) else { return nil }
        let fields = String(cString: entry.pointee.value).split(separator: " ")
        guard fields.count >= 4, let count = Int64(fields[3], radix: 16), count > 0, count <= most ?? .max
        else { return nil }
        return count
    }

    /// The length of a track whose edit list is a little too coarse to tell it.
    private static func edited(
        _ source: any ByteSource, _ demuxer: borrowing Demuxer, _ track: AudioTrack
    ) -> Int64? {
        let frameLength = demuxer.stream(track.index).pointee.codecpar.pointee.frame_size
        // What cannot be read here cannot be decoded either, which is told there.
        guard let edit = try? MovieEdit(source, track: track.index) else { return nil }
        // What libav takes for the length then counts from another place.
        let told = edit.beginsLate ? edit.toldLength(rate: track.rate) : nil
        return edit.exactLength(rate: track.rate, frameLength: Int64(frameLength)) ?? told
    }

    /// Why fewer samples, or fewer packets, came than were promised; nothing if they did not.
    package func shortfall(position: Int64, packetTime: Int64) -> MediaError? {
        if let least, position < least {
            return Truncation.failure("it holds \(position) samples of the \(least) that its headers promise")
        }
        if let leastPacketTime, packetTime < leastPacketTime {
            return Truncation.failure("frames are missing that its header counts")
        }
        return nil
    }
}
