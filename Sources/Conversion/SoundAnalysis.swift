import Bytes
import CLibav
import Decoding
import Encoding
import Filters
import Libav
import Lifecycle
import MediaTypes

/// Analyzes the range before the conversion, for outputs that need measurements; several outputs share one pass.
enum SoundAnalysis {
    /// Measures what each output needs; `nil` for outputs that need nothing or cannot be made.
    static func run(
        _ source: any ByteSource, _ plan: ConversionPlan, threads: ThreadBudget, stop: CancellationFlag,
        progress: (Progress) -> Void
    ) throws(MediaError) -> [SoundMeasurement?] {
        guard plan.renditions.contains(where: \.sound.needsMeasurement) else {
            return Array(repeating: nil, count: plan.renditions.count)
        }
        progress(Progress(phase: .analyzing))
        var reader = try AssetReader.open(source, plan.source, threads: threads, stop: stop)
        var gauges: [Gauge.Key: Gauge] = [:]
        var keys: [Gauge.Key?] = []
        for rendition in plan.renditions {
            let key = try? Gauge.Key(rendition, reader.shape, reader.depth)
            keys.append(key)
            guard let key, gauges[key] == nil else { continue }
            gauges[key] = try Gauge(rendition, reader.shape, reader.depth, threads: threads)
        }
        var meter = ProgressMeter(reader, phase: .analyzing)
        let frame = try Frame()
        while try reader.next(into: frame) {
            for gauge in gauges.values { try gauge.append(frame) }
            if let report = meter.report(reader) { progress(report) }
        }
        var measurements: [Gauge.Key: SoundMeasurement] = [:]
        for (key, gauge) in gauges { measurements[key] = try gauge.finish() }
        return keys.map { key in key.flatMap { measurements[$0] } }
    }
}

/// Measures the range for outputs with the same channels and silence settings.
private final class Gauge {
    private let stages: [any SoundStage]
    private let channels: Int
    private let meter: ParallelLoudness?
    /// The tempo at which loudness is measured; `nil` for the source's.
    private let tempo: TempoStage?
    private var scan: SilenceScan
    private var samples: Int64 = 0
    private let wantsSilence: Bool

    /// Identifies a measurement that several outputs can share.
    struct Key: Hashable {
        let sound: SoundSettings
        let layout: String

        /// `nil` if the output needs no measurement.
        init?(_ rendition: Rendition, _ inputShape: SampleShape, _ depth: SampleDepth) throws(MediaError) {
            guard rendition.sound.needsMeasurement else { return nil }
            sound = rendition.sound.measured
            let shape = try rendition.sound.shape(of: inputShape)
            layout = try EncodingSettings.resolve(rendition, shape, depth).shape.layout.description
        }
    }

    init(
        _ rendition: Rendition, _ inputShape: SampleShape, _ depth: SampleDepth, threads: ThreadBudget
    ) throws(MediaError) {
        let sound = rendition.sound
        let settings = try EncodingSettings.resolve(rendition, try sound.shape(of: inputShape), depth)
        stages = try SoundPath.untilMeasured(sound, inputShape, settings)
        let shape = stages.last!.output
        channels = shape.channels
        meter =
            sound.loudness == nil && sound.replayGain == nil ? nil : try ParallelLoudness(shape, threads: threads)
        let speed = meter == nil ? nil : sound.effectiveTempo
        tempo = try speed.map { speed throws(MediaError) in try TempoStage(speed, shape) }
        wantsSilence = sound.trimSilence != nil
        scan = SilenceScan(sound.trimSilence ?? SilenceTrim(threshold: 0), rate: inputShape.rate)
    }

    func append(_ frame: borrowing Frame) throws(MediaError) {
        try stages.append(frame) { (floats: borrowing Frame) throws(MediaError) in try measure(floats) }
    }

    private func measure(_ floats: borrowing Frame) throws(MediaError) {
        if let tempo {
            try tempo.append(floats) { (timed: borrowing Frame) throws(MediaError) in try meter?.append(timed) }
        } else {
            try meter?.append(floats)
        }
        if wantsSilence { scan.append(floats, channels: channels) }
        samples += Int64(floats.samples)
    }

    func finish() throws(MediaError) -> SoundMeasurement {
        try stages.finish { (rest: borrowing Frame) throws(MediaError) in try measure(rest) }
        try tempo?.finish { (timed: borrowing Frame) throws(MediaError) in try meter?.append(timed) }
        return SoundMeasurement(
            samples: samples, loudness: try meter?.finish(), sound: wantsSilence ? scan.sound : nil)
    }
}
