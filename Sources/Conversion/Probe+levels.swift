package import Bytes
import CLibav
import Decoding
import Filters
import Libav
package import Lifecycle
package import MediaTypes

extension Probe {
    /// Probes a source, and measures the loudness and silence of its default track by decoding it.
    package static func of(
        _ source: any ByteSource, _ settings: ProbeSettings, charset: String? = nil, limits: SourceLimits = .init(),
        stop: CancellationFlag,
        progress: (Progress) -> Void = { _ in }
    ) throws(MediaError) -> Probe {
        var probe = try of(source, charset: charset, limits: limits, stop: stop)
        guard settings != ProbeSettings() else { return probe }
        var plain = SourceSettings()
        plain.limits = limits
        var reader = try AssetReader.open(source, plain, stop: stop)
        guard let track = probe.tracks.firstIndex(where: { $0.index == reader.track.index }) else { return probe }
        var shape = reader.shape
        shape.format = AV_SAMPLE_FMT_FLTP
        let converter = try Resampler.open(reader.shape, to: shape)
        var loudness: LoudnessMeter?
        if settings.loudness {
            loudness = try LoudnessMeter.open(shape)
        }
        var scan = settings.silence.map { SilenceScan($0, rate: shape.rate, keepsAll: true) }
        var meter = ProgressMeter(reader, phase: .analyzing)
        let frame = try Frame()
        let floats = try Frame()
        while try reader.next(into: frame) {
            try converter.convert(frame, into: floats)
            if loudness != nil { try loudness!.append(floats) }
            scan?.append(floats, channels: shape.channels)
            if let report = meter.report(reader) { progress(report) }
        }
        try loudness?.finish()
        switch loudness {
        case .none: break
        case .some(let meter): probe.tracks[track].loudness = meter.blocks.loudness(withMomentary: true)
        }
        scan?.finish()
        probe.tracks[track].silences = scan?.silences.map {
            Silence(
                start: MediaTime(sample: $0.lowerBound, rate: shape.rate),
                end: MediaTime(sample: $0.upperBound, rate: shape.rate))
        }
        if let scan, scan.leftOut > 0 { probe.tracks[track].silencesLeftOut = scan.leftOut }
        return probe
    }
}
