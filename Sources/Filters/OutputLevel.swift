import Bytes
import CLibav
import Libav
import MediaTypes

/// The level at the output's rate: the limiter, the measurement of what is written, and the compensation of the encoder's own gain.
final class OutputLevel: SoundStage {
    let output: SampleShape
    private var limiter: Limiter?
    /// Samples of limiter latency that are still to be dropped from the start of the output.
    private var late: Int
    private var meter: LoudnessMeter?
    /// The samples that are still measured. If the finished file is measured, these are enough for one that is too short to be
    /// decoded.
    private var unmeasured = Int.max
    private let sound: SoundSettings
    /// Gain reduction in dB after the limiter, for an encoding after decoded peaks exceeded the ceiling.
    private let lowering: Double
    /// The gain after the limiter: compensation of the encoder's own gain, and the lowering.
    private let gain: Float
    /// The loudness measured in the finished file.
    var decoded: Loudness?
    private let isBounded: Bool
    /// Whether samples over full scale reach the encoder: the encoder accepts them, and a decoder clips them.
    private let mayExceed: Bool
    private var highest: Float = 0
    private let rest: Frame

    init(
        _ sound: SoundSettings, _ shape: SampleShape, _ settings: EncodingSettings, lowering: Double, measuresFile: Bool
    ) throws(MediaError) {
        rest = try Frame()
        self.sound = sound
        self.lowering = lowering
        output = shape
        let encoderGain = sound.loudness == nil ? 1 : EncoderGain.factor(settings)
        gain = Float(factor(decibels: -lowering) / encoderGain)
        limiter = sound.ceiling.map { Limiter(ceiling: $0, rate: shape.rate, channels: shape.channels) }
        late = limiter?.latency ?? 0
        isBounded = limiter == nil && !(settings.sampleFormat?.isFloat ?? false)
        mayExceed = isBounded && ClipMeter.concerns(settings.shape.format)
        if sound.loudness != nil { meter = try LoudnessMeter.open(shape) }
        if measuresFile { unmeasured = shape.rate }
    }

    func append(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
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
        frame.multiply(by: gain, channels: output.channels)
        try body(frame)
    }

    func finish(_ body: FrameBody) throws(MediaError) {
        var left = limiter?.latency ?? 0
        while left > 0 {
            let count = min(left, 4096)
            try rest.reserve(count, output)
            rest.silence(output)
            try append(rest, body)
            left -= count
        }
        try meter?.finish()
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
        var sentence = "\(words.joined(separator: ", and ")), to keep \(sound.ceiling ?? 0) dBTP"
        if let target = sound.loudness, let loudness = after?.integrated, case let short = tenths(target - loudness),
            short > 0
        {
            sentence += "; the result is \(short) LU softer than its target"
        }
        return Warning(.limited, sentence)
    }

    private func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }

    var effective: [String: Setting] {
        guard let ceiling = sound.ceiling else { return [:] }
        return ["true_peak": Setting(requested: sound.truePeak.map { "\($0)" }, effective: "\(ceiling)")]
    }

    var warnings: [Warning] {
        var warnings: [Warning] = []
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
