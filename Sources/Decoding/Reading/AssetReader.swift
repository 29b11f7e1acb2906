package import Bytes
import CLibav
import Containers
package import Demuxing
package import Libav
package import Lifecycle
package import MediaTypes
import Tags

/// Reads a range of a source's audio as samples of one shape, trimmed to the exact sample.
///
/// Samples are counted from the first that the decoder gives once encoder delay is gone, not read from timestamps.
package struct AssetReader: ~Copyable {
    package let track: AudioTrack
    /// The shape of every frame that `next` gives.
    package let shape: SampleShape
    package let depth: SampleDepth
    /// The range, in samples.
    package let first: Int64
    package let end: Int64?
    private let range: TimeRange
    private var decoding: TrackDecoder
    private var converter: Resampler?
    private let held: Frame
    private var isHolding = true
    private var damageMeter: DamageMeter
    private let limits: SourceLimits
    private let drc: Double?
    /// Bytes of samples given so far, those before the range as well.
    private var decodedBytes: Int64 = 0
    /// The index of the sample that comes next.
    package private(set) var position: Int64

    private init(
        _ decoding: consuming TrackDecoder, _ settings: SourceSettings, _ shape: SampleShape, held: consuming Frame,
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

    /// Opens a source for a range, at the packet before it where counting can start there without doubt.
    package static func open(
        _ source: any ByteSource, _ settings: SourceSettings, stop: CancellationFlag
    ) throws(MediaError) -> AssetReader {
        var decoding = try TrackDecoder.open(source, settings, stop: stop)
        let held = try Frame()
        var position: Int64 = 0
        if let time = try decoding.seek(to: settings.range.start, into: held) {
            position = time
        } else {
            decoding = try TrackDecoder.open(source, settings, stop: stop)
            _ = try decoding.next(into: held)
        }
        guard held.samples > 0 else { throw try decoding.emptiness() }
        let shape = try held.shape
        try settings.limits.check(shape)
        // What must be there for the source to be whole.
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
                "the range from \(range.start.text) s to \(range.end!.text) s holds no sample at \(shape.rate) Hz")
        }
    }

    /// The length of the source in seconds, if its container tells; an estimate counts for nothing.
    package var sourceSeconds: Double? { decoding.seconds }

    /// The sample that decoding began with, at or before the range.
    package var decodedFrom: Int64 { decoding.bounds.start }

    /// The track as its header tells of it, whatever the decoder found.
    package var declaredTrack: AudioTrack { AudioTrack(decoding.demuxer.stream(track.index)) }

    /// The MD5 that the source declares for its samples.
    package var declaredSum: DeclaredSum? {
        switch decoding.demuxer.descriptor.checksum {
        case .streamInfo: FlacHeader(decoding.demuxer.stream(track.index)).flatMap { DeclaredSum($0) }
        // What cannot be read here cannot be decoded either, which is told there.
        case .lastBlock: try? DeclaredSum(wavPack: decoding.source)
        case .nowhere: nil
        }
    }

    /// The part of the source's bytes that is read.
    var byteFraction: Double { decoding.byteFraction }

    /// What a person should know of the source, once it was read.
    package var warnings: [Warning] {
        var warnings = containerWarnings
        if let end, position < end {
            let length = MediaTime(sample: position, rate: shape.rate).text
            warnings.append(
                Warning(
                    .rangeCut,
                    "the range ends at \(range.end!.text) s and the source at \(length) s, where the result ends"))
        }
        if !track.namesChannels && shape.channels > 2 {
            warnings.append(
                Warning(
                    .channelsUnnamed,
                    "the source does not name its \(shape.channels) channels; they were taken for \(shape.layout)"))
        }
        if decoding.junk > 0 {
            warnings.append(
                Warning(
                    .junkSkipped, "the source holds bytes between its frames that are no audio; they were skipped"))
        }
        if let warning = damageMeter.warning(silentEvents: decoding.silentEvents) { warnings.append(warning) }
        return warnings + decoding.end.warnings
    }

    /// What a person should know of the source's container, whether its packets are decoded or copied.
    package var containerWarnings: [Warning] { decoding.demuxer.warnings }

    /// How much of the source's dynamic range compression is applied; nothing of a codec that carries none.
    package var compression: Setting? {
        guard track.codecID.descriptor.compressesRange else { return nil }
        return Setting(requested: drc.map { "\($0)" }, effective: "\(drc ?? 1)")
    }

    /// What of the range could not be decoded, so far.
    package var damage: Damage { damageMeter.damage(silentEvents: decoding.silentEvents) }

    /// What the source says beside its audio, cut to the range.
    package func metadata(_ source: any ByteSource, charset: String?) throws(MediaError) -> Metadata {
        var metadata = try TagReader.read(
            source, decoding.demuxer, track, charset: charset, limits: limits)
        metadata.cut(first: first, end: end, rate: shape.rate)
        // A header may promise any length.
        let last = end ?? sourceSeconds.flatMap { $0 < 1e9 ? Int64($0 * Double(shape.rate)) : nil }
        metadata.endChapters(at: last.map { max($0 - first, 0) }, rate: shape.rate)
        return metadata
    }

    /// What the source says of each of its audio tracks.
    package var labels: [TrackLabel] { decoding.demuxer.labels }

    /// Where in the source the last packet lies; negative if unknown.
    package var packetOffset: Int64 { decoding.packetOffset }

    /// Gives the next samples of the range; false at its end.
    package mutating func next(into frame: borrowing Frame) throws(MediaError) -> Bool {
        while end.map({ position < $0 }) ?? true {
            guard try steady(into: frame) else {
                let missing = try decoding.fillEnd(position: position, shape)
                guard missing > 0 else {
                    try finish()
                    return false
                }
                // A header may promise years: what would be silence up to the end is judged before it is made.
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

    /// The source has ended before the range did: makes sure that it ended where it should.
    private mutating func finish() throws(MediaError) {
        try damageMeter.judge(of: position - first)
        guard position > first else {
            throw MediaError(
                .invalidTimeRange, "read the range",
                "the range starts at \(range.start.text) s and the source ends at "
                    + "\(MediaTime(sample: position, rate: shape.rate).text) s")
        }
    }

    /// Gives the next decoded samples in the one shape, whatever the stream changes to.
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

    /// Whether the converter in use, if any, is the right one for the samples held.
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
