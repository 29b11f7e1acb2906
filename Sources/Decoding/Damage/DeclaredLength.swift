package import Bytes
import CLibav
import Containers
package import Demuxing
package import Libav
import MediaTypes

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
    package let lead: Int64
    /// The parts of the media that are played, if they are several.
    package let parts: [MediaPart]?
    /// The minimum sum of packet durations, in units of the time base.
    private let leastPacketTime: Int64?

    /// A source that cannot be read declares no length here; the decoder reports the error.
    package init(_ source: any ByteSource, _ demuxer: borrowing Demuxer, _ track: AudioTrack) {
        let descriptor = demuxer.descriptor
        // A read error here is reported by the decoder.
        if descriptor.padding == .musepackHeader, let header = try? MusepackHeader(source) {
            seconds = Double(header.samples) / Double(max(track.rate, 1))
            (least, audible, isExact) = (header.samples, header.samples, true)
            (lead, parts, leastPacketTime) = (header.delay, nil, nil)
            return
        }
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
            let movie = MovieLength(source, demuxer, track)
            (lead, parts, audible) = (movie.lead, movie.parts, movie.audible)
            // Edit lists that declare a little more than there is are common. Ones that declare another length mean damage.
            least = audible.map { $0 - max($0 / 20, 8192) }
            isExact = false
        case .granules where track.codecID.descriptor.countsGranules:
            (lead, parts, audible) = (0, nil, nil)
            // A lost page is thousands of samples. A stream that was cut out of another may lack a few at its start.
            least = samples.map { $0 - track.countedDelay - 2048 }
            isExact = least != nil
        case .packetTable:
            // libav adds up the packets, including delay and padding.
            let table = track.isPCM ? nil : try? PacketTable(source)
            audible = table?.audible.nearestSample(rate: track.rate)
            (lead, parts) = (table.map { demuxer.undecoded($0.delay, track) } ?? 0, nil)
            (least, isExact) = (counted, counted != nil)
        case .factChunk:
            (lead, parts) = (0, nil)
            audible = try? WaveSamples.declaredCount(source, demuxer.stream(track.index))
            (least, isExact) = (counted, counted != nil)
        case .dataSize:
            (lead, parts, audible) = (0, nil, samples.flatMap { $0 > 0 ? $0 : nil })
            (least, isExact) = (counted, counted != nil)
        case .libav, .lameTag, .granules, .codecHeader, .musepackHeader:
            (lead, parts, audible) = (0, nil, nil)
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
