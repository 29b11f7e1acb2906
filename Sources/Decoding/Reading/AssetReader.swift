package import Bytes
import CLibav
import Containers
package import Demuxing
package import Libav
package import Lifecycle
package import MediaTypes
import Tags

/// Reads a range of a source's audio as samples of one shape, cut to the exact sample.
///
/// Samples are counted from the first one that the decoder returns after encoder delay, not by timestamps.
package struct AssetReader: ~Copyable {
    /// The selected track, with the decoder's corrections.
    package let track: AudioTrack
    /// The shape of every frame that `next` returns.
    package let shape: SampleShape
    /// The resolution that the decoder's output has before any conversion.
    package let depth: SampleDepth
    /// The index of the range's first sample.
    package let first: Int64
    /// The index after the range's last sample; `nil` if the range extends to the end of the source.
    package let end: Int64?
    private let range: TimeRange
    private let decoding: TrackDecoder
    private var converter: Resampler?
    private let held: Frame
    private var isHolding = true
    private var damageMeter: DamageMeter
    private let limits: SourceLimits
    private let drc: Double?
    /// Bytes of decoded samples so far, including those before the range.
    private var decodedBytes: Int64 = 0
    /// The index of the next sample.
    package private(set) var position: Int64

    private init(
        _ decoding: TrackDecoder, _ settings: SourceSettings, _ shape: SampleShape, held: consuming Frame,
        position: Int64
    ) {
        let range = settings.range
        (first, end) = range.samples(rate: shape.rate)
        damageMeter = DamageMeter(settings.damage, rate: shape.rate)
        limits = settings.limits
        drc = settings.drc
        self.track = decoding.track
        self.depth = decoding.depth
        self.shape = shape
        self.range = range
        self.decoding = decoding
        self.held = held
        self.position = position
    }

    /// Opens a source for a range. It starts at a packet before the range if samples can be counted reliably from there.
    package static func open(
        _ source: any ByteSource, _ settings: SourceSettings, threads: ThreadBudget = .one, stop: CancellationFlag
    ) throws(MediaError) -> AssetReader {
        var decoding = try TrackDecoder.open(source, settings, threads: threads, stop: stop)
        let held = try Frame()
        var position: Int64 = 0
        if let time = try decoding.seek(to: settings.range.start, into: held) {
            position = time
        } else {
            decoding = try TrackDecoder.open(source, settings, threads: threads, stop: stop)
            _ = try decoding.next(into: held)
        }
        guard held.samples > 0 else { throw try decoding.emptiness() }
        let shape = try held.shape
        try settings.limits.check(shape)
        // The minimum number of samples of a complete source.
        let promised = settings.damage == .fail ? decoding.declared.least ?? 0 : 0
        let reader = AssetReader(decoding, settings, shape, held: held, position: position)
        try reader.checkRange()
        try settings.limits.check(samples: min(promised, reader.end ?? .max), rate: shape.rate)
        return reader
    }

    private borrowing func checkRange() throws(MediaError) {
        if let end, end <= first {
            throw MediaError(
                .invalidTimeRange, "read the range",
                "the range from \(range.start.text) s to \(range.end!.text) s contains no sample at \(shape.rate) Hz")
        }
    }

    /// The source's duration in seconds; `nil` if the container does not declare it or it is an estimate.
    package var sourceSeconds: Double? { decoding.seconds }

    /// The expected duration of the range in seconds; `nil` if it has no end and the container declares no duration.
    package var expectedSeconds: Double? { rangeSeconds(within: sourceSeconds.map { $0 - startSeconds }) }

    /// The duration of the range in seconds, if so much of the source follows its start; `nil` if neither is known.
    func rangeSeconds(within rest: Double?) -> Double? {
        let wanted = end.map { Double($0) / Double(shape.rate) - startSeconds }
        return wanted.map { min($0, rest ?? $0) } ?? rest
    }

    /// The start of the range in seconds.
    var startSeconds: Double { Double(first) / Double(shape.rate) }

    /// The number of packets that several threads decoded before they were needed.
    package var packetsAhead: Int { decoding.packetsAhead }

    /// The first decoded sample, at or before the range.
    package var decodedFrom: Int64 { decoding.bounds.start }

    /// The track as its header declares it, without the decoder's corrections.
    package var declaredTrack: AudioTrack { AudioTrack(decoding.demuxer.stream(track.index)) }

    /// The MD5 that the source declares for its samples.
    package var declaredSum: DeclaredSum? {
        switch decoding.demuxer.descriptor.checksum {
        case .streamInfo: FlacHeader(decoding.demuxer.stream(track.index)).flatMap { DeclaredSum($0) }
        // A read error here is reported by the decoder.
        case .lastBlock: try? DeclaredSum(wavPack: decoding.source)
        case .nowhere: nil
        }
    }

    /// The fraction of the source's bytes that has been read.
    var byteFraction: Double { decoding.byteFraction }

    /// Warnings about the source, complete once it was read.
    package var warnings: [Warning] {
        var warnings = containerWarnings
        if let end, position < end {
            let length = MediaTime(sample: position, rate: shape.rate).text
            warnings.append(
                Warning(
                    .rangeCut,
                    "the range ends at \(range.end!.text) s, after the end of the source at \(length) s, where the result ends"
                ))
        }
        if !track.namesChannels && shape.channels > 2 {
            warnings.append(
                Warning(
                    .channelsUnnamed,
                    "the source does not declare the layout of its \(shape.channels) channels; \(shape.layout) is assumed"
                ))
        }
        if decoding.junk > 0 {
            warnings.append(
                Warning(
                    .junkSkipped, "the source has bytes between its frames that are not audio; they were skipped"))
        }
        if let warning = damageMeter.warning(silentEvents: decoding.silentEvents) { warnings.append(warning) }
        return warnings + decoding.end.warnings
    }

    /// Warnings about the source's container, which also apply if packets are copied.
    package var containerWarnings: [Warning] { decoding.demuxer.warnings }

    /// How much of the source's dynamic range compression is applied; `nil` for a codec without it.
    package var compression: Setting? {
        guard track.codecID.descriptor.compressesRange else { return nil }
        return Setting(requested: drc.map { "\($0)" }, effective: "\(drc ?? 1)")
    }

    /// The damage of the range so far.
    package var damage: Damage { damageMeter.damage(silentEvents: decoding.silentEvents) }

    /// The source's metadata, cut to the range.
    package func metadata(_ source: any ByteSource, charset: String?) throws(MediaError) -> Metadata {
        var metadata = try TagReader.read(
            source, decoding.demuxer, track, charset: charset, limits: limits)
        metadata.cut(first: first, end: end, rate: shape.rate)
        // A header may declare any duration.
        let last = end ?? sourceSeconds.flatMap { $0 < 1e9 ? Int64($0 * Double(shape.rate)) : nil }
        metadata.endChapters(at: last.map { max($0 - first, 0) }, rate: shape.rate)
        return metadata
    }

    /// The labels of the source's audio tracks.
    package var labels: [TrackLabel] { decoding.demuxer.labels }

    /// The offset of the last packet in the source; negative if unknown.
    package var packetOffset: Int64 { decoding.packetOffset }

    /// Returns the next samples of the range; `false` at its end.
    package mutating func next(into frame: borrowing Frame) throws(MediaError) -> Bool {
        while end.map({ position < $0 }) ?? true {
            guard try steady(into: frame) else {
                let missing = try decoding.fillEnd(position: position, shape)
                guard missing > 0 else {
                    try finish()
                    return false
                }
                // A header may declare years. Silence up to the end is judged before it is generated.
                let last = max(min(position + missing, end ?? .max), first)
                try damageMeter.judge(of: last - first, missing: min(max(position, first), last)..<last)
                continue
            }
            let start = position
            position += Int64(frame.samples)
            decodedBytes += Int64(frame.bytes)
            try limits.check(samples: position, rate: shape.rate)
            try limits.check(decoded: decodedBytes, of: decoding.source)
            guard position > first else { continue }
            if let end, position > end {
                frame.keepFirst(frame.samples - Int(position - end))
                position = end
            }
            let isLost = frame.isLost
            if start < first { try frame.dropFirst(Int(first - start), shape) }
            damageMeter.pass(frame.samples, at: max(start, first), isLost: isLost)
            return true
        }
        try damageMeter.judge(of: position - first)
        return false
    }

    /// Checks a source that ended before the range did.
    private mutating func finish() throws(MediaError) {
        try damageMeter.judge(of: position - first)
        guard position > first else {
            throw MediaError(
                .invalidTimeRange, "read the range",
                "the range starts at \(range.start.text) s, after the end of the "
                    + "source at \(MediaTime(sample: position, rate: shape.rate).text) s")
        }
    }

    /// Returns the next decoded samples in a constant shape, even if the stream's shape changes.
    private mutating func steady(into frame: borrowing Frame) throws(MediaError) -> Bool {
        while true {
            if !isHolding { isHolding = try decoding.next(into: held) }
            if !canConvertHeld {
                try drainConverter(into: frame)
                frame.isLost = false
                converter = nil
                if frame.samples > 0 { return true }
            }
            guard isHolding else { return false }
            isHolding = false
            if held.has(shape) {
                frame.take(held)
                return true
            }
            if needsConverter { converter = try Resampler.open(try held.shape, to: shape) }
            try convertHeld(into: frame)
            frame.isLost = held.isLost
            if frame.samples > 0 { return true }
        }
    }

    private var needsConverter: Bool {
        switch converter {
        case .none: true
        case .some: false
        }
    }

    /// Whether the current converter, if any, has the shape of the held samples.
    private var canConvertHeld: Bool {
        switch converter {
        case .none: true
        case .some(let converter): isHolding && held.has(converter.input)
        }
    }

    private borrowing func convertHeld(into frame: borrowing Frame) throws(MediaError) {
        switch converter {
        case .none: break
        case .some(let converter): try converter.convert(held, into: frame)
        }
    }

    private borrowing func drainConverter(into frame: borrowing Frame) throws(MediaError) {
        switch converter {
        case .none: break
        case .some(let converter): try converter.drain(into: frame)
        }
    }
}
