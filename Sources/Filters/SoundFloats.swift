import Bytes
import CLibav
import Libav
import MediaTypes

/// The floating-point part of a chain. In this order: mix, tempo, level, fades, sample rate, limiter.
final class SoundFloats {
    /// The shape of the output samples.
    let output: SampleShape
    /// The change of level in dB.
    let gain: Double
    private let head: ChannelMixStage
    private let tempo: TempoStage?
    private let level: SoundLevel
    private var converter: SampleConverter
    private var limiter: Limiter?
    /// Samples of limiter latency that are still to be dropped from the start of the output.
    private var late: Int
    private var meter: LoudnessMeter?
    /// The samples that are still measured. If the finished file is measured, these are enough for one that is too short to be
    /// decoded.
    private var unmeasured = Int.max
    private let ceiling: Double?
    /// The requested loudness in LUFS.
    private let target: Double?
    /// Gain reduction in dB behind the limiter, for an encoding after decoded peaks exceeded the ceiling.
    private let lowering: Double
    /// The gain behind the limiter: compensation of the encoder's own gain, and the lowering.
    private let outputGain: Float
    /// The loudness measured in the finished file.
    var decoded: Loudness?
    private let isUnmeasured: Bool
    private let isBounded: Bool
    /// Whether samples over full scale reach the encoder: the encoder accepts them, and a decoder clips them.
    private let mayExceed: Bool
    private var highest: Float = 0
    private let rest: Frame

    init(
        _ sound: SoundSettings, _ inputShape: SampleShape, _ settings: EncodingSettings,
        _ measurement: SoundMeasurement?,
        lowering: Double = 0, measuresFile: Bool = false
    ) throws(MediaError) {
        rest = try Frame()
        target = sound.loudness
        self.lowering = lowering
        let encoderGain = sound.loudness == nil ? 1 : EncoderGain.factor(settings)
        outputGain = Float(factor(decibels: -lowering) / encoderGain)
        head = try ChannelMixStage(sound, inputShape, settings)
        output = SampleShape(format: AV_SAMPLE_FMT_FLTP, rate: settings.shape.rate, layout: head.output.layout)
        let measured = measurement?.loudness
        gain = sound.gain(measured)
        isUnmeasured = sound.loudness != nil && measured?.integrated == nil
        let speed = sound.tempo.flatMap { $0.isUnity ? nil : $0 }
        let shape = head.output
        tempo = try speed.map { speed throws(MediaError) in try TempoStage(speed, shape) }
        let kept = measurement.map { Int64(($0.sound ?? 0..<$0.samples).count) }
        level = try SoundLevel(sound, shape, gain: gain, total: kept.map { speed?.samples($0) ?? $0 })
        converter = try SampleConverter.open(
            head.output, .float32, to: output, bits: nil, dither: nil, engine: sound.resampler)
        let (ceiling, limited) = (sound.ceiling, output)
        self.ceiling = ceiling
        limiter = ceiling.map { Limiter(ceiling: $0, rate: limited.rate, channels: limited.channels) }
        late = limiter?.latency ?? 0
        isBounded = ceiling == nil && !(settings.sampleFormat?.isFloat ?? false)
        mayExceed = isBounded && ClipMeter.concerns(settings.shape.format)
        if sound.loudness != nil { meter = try LoudnessMeter.open(output) }
        if measuresFile { unmeasured = output.rate }
    }

    func append(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        try head.convert(frame) { (floats: borrowing Frame) throws(MediaError) in
            guard let tempo else { return try raise(floats, body) }
            try tempo.append(floats) { (timed: borrowing Frame) throws(MediaError) in try raise(timed, body) }
        }
    }

    private func raise(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        try level.apply(frame) { (levelled: borrowing Frame) throws(MediaError) in try resample(levelled, body) }
    }

    func finish(_ body: FrameBody) throws(MediaError) {
        try tempo?.finish { (timed: borrowing Frame) throws(MediaError) in try raise(timed, body) }
        try level.finish { (levelled: borrowing Frame) throws(MediaError) in try resample(levelled, body) }
        while try converter.drain() { try limit(converter.result, body) }
        var left = limiter?.latency ?? 0
        while left > 0 {
            let count = min(left, 4096)
            try rest.reserve(count, output)
            rest.silence(output)
            try limit(rest, body)
            left -= count
        }
        try meter?.finish()
    }

    private func resample(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        if try converter.convert(frame) { try limit(converter.result, body) } else { try limit(frame, body) }
    }

    private func limit(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        guard frame.samples > 0 else { return }
        if limiter != nil {
            limiter!.process(
                (0..<output.channels).map { UnsafeMutableBufferPointer(start: frame.floats($0), count: frame.samples) })
            let early = min(late, frame.samples)
            late -= early
            if early == frame.samples { return }
            if early > 0 { try frame.dropFirst(early, output) }
        } else if isBounded {
            let bound = Float(FloatRepair.highest)
            for channel in 0..<output.channels {
                let samples = frame.floats(channel)
                for index in 0..<frame.samples where abs(samples[index]) > highest { highest = abs(samples[index]) }
                // A gain may raise samples out of bounds.
                guard highest > bound else { continue }
                for index in 0..<frame.samples { samples[index] = min(max(samples[index], -bound), bound) }
            }
        }
        if meter != nil, unmeasured > 0 {
            try meter!.append(frame)
            unmeasured -= frame.samples
        }
        if outputGain != 1 {
            for channel in 0..<output.channels {
                let samples = frame.floats(channel)
                for index in 0..<frame.samples { samples[index] *= outputGain }
            }
        }
        try body(frame)
    }

    /// The output's loudness; `nil` if no loudness was requested.
    var after: Loudness? {
        if let decoded { return decoded }
        guard unmeasured > 0 else { return nil }
        return switch meter {
        case .none: nil
        case .some(let meter): meter.blocks.loudness()
        }
    }

    /// A warning about what the limiter and the repeated encoding did to keep the ceiling, and what it cost.
    private var limited: Warning? {
        var words: [String] = []
        if let work = limiter?.work, work.events > 0 {
            let seconds = (Double(work.samples) / Double(output.rate) * 1000).rounded() / 1000
            let times = work.events == 1 ? "once" : "\(work.events) times"
            words.append(
                "the limiter reduced the level \(times), for \(seconds) s in total "
                    + "and by at most \(tenths(decibels(Double(1 / work.leastGain)))) dB")
        }
        if lowering > 0 { words.append("the result was encoded again \(tenths(lowering)) dB lower") }
        guard !words.isEmpty else { return nil }
        var sentence = "\(words.joined(separator: ", and ")), to keep \(ceiling ?? 0) dBTP"
        if let target, let loudness = after?.integrated, case let short = tenths(target - loudness), short > 0 {
            sentence += "; the result is \(short) LU softer than its target"
        }
        return Warning(.limited, sentence)
    }

    private func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }

    /// Warnings about the output.
    var warnings: [Warning] {
        var warnings: [Warning] = []
        if isUnmeasured {
            warnings.append(
                Warning(.loudnessUnmeasured, "the range is silent or too quiet to measure, so its level is unchanged"))
        }
        if let limited { warnings.append(limited) }
        if mayExceed && highest > 1 {
            let over = (decibels(Double(highest)) * 10).rounded() / 10
            warnings.append(
                Warning(
                    .clipped,
                    "samples exceed full scale by up to \(over) dB; set `true_peak` to limit them, or lower the level"))
        }
        return warnings
    }
}

extension SoundSettings {
    /// The change of level in dB.
    func gain(_ measured: Loudness?) -> Double {
        if let loudness { return measured?.integrated.map { loudness - $0 } ?? 0 }
        return gain ?? 0
    }
}
