package import Bytes
import CLibav
package import Libav
package import MediaTypes

/// The processing of one output's samples between decoder and encoder.
package final class AudioFilterChain {
    /// The shape of the output samples.
    package let output: SampleShape
    /// The depth of the output samples. Floats keep any depth.
    package let depth: SampleDepth
    private let sound: SoundSettings
    private let repair: FloatRepair?
    private let map: ChannelMap?
    private let window: SampleWindow?
    private let floats: SoundFloats?
    private let measurement: SoundMeasurement?

    private init(
        _ sound: SoundSettings, _ output: SampleShape, _ depth: SampleDepth, _ repair: FloatRepair?,
        _ map: consuming ChannelMap?, _ floats: SoundFloats?, _ measurement: SoundMeasurement?
    ) throws(MediaError) {
        self.sound = sound
        self.repair = repair
        self.output = output
        self.depth = depth
        self.map = map
        self.floats = floats
        self.measurement = measurement
        let kept = sound.trimSilence == nil ? nil : measurement?.sound
        window = try kept.map { range throws(MediaError) in try SampleWindow(range) }
    }

    /// Opens the chain of an output; `nil` if the source's samples pass through unchanged. With `measuresFile`, the loudness of
    /// the finished file is given to `take`.
    package static func open(
        _ sound: SoundSettings, _ inputShape: SampleShape, _ depth: SampleDepth, _ settings: EncodingSettings,
        _ measurement: SoundMeasurement?, lowering: Double = 0, measuresFile: Bool = false
    ) throws(MediaError) -> AudioFilterChain? {
        let staysAsItIs =
            settings.sampleFormat?.isFloat == true && settings.shape.rate == inputShape.rate && !sound.changesSamples
        let repair =
            FloatRepair.concerns(inputShape.format) && !staysAsItIs ? try FloatRepair(inputShape) : nil
        if sound.changesSamples {
            let floats = try SoundFloats(
                sound, inputShape, settings, measurement, lowering: lowering, measuresFile: measuresFile)
            return try AudioFilterChain(sound, floats.output, .float32, repair, nil, floats, measurement)
        }
        guard let references = sound.channelMap else {
            if repair == nil, sound == SoundSettings() { return nil }
            return try AudioFilterChain(sound, inputShape, depth, repair, nil, nil, measurement)
        }
        let map = try ChannelMap.open(references, inputShape)
        let shape = map.output
        return try AudioFilterChain(sound, shape, depth, repair, map, nil, measurement)
    }

    /// Passes the processed samples of a source frame to the body. The frame itself is not changed.
    package func append(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        guard let window else { return try mend(frame, body) }
        try window.cut(frame) { (part: borrowing Frame) throws(MediaError) in try mend(part, body) }
    }

    private func mend(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        guard let repair else { return try pass(frame, body) }
        try repair.append(frame) { (mended: borrowing Frame) throws(MediaError) in try pass(mended, body) }
    }

    private func pass(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        if let floats { return try floats.append(frame, body) }
        switch map {
        case .none: try body(frame)
        case .some(let map): try map.apply(frame, body)
        }
    }

    /// Flushes the chain's remaining samples to the body.
    package func finish(_ body: FrameBody) throws(MediaError) {
        try floats?.finish(body)
    }

    /// Stores the loudness of the finished file. Returns by how many dB its true peak exceeds the ceiling; `nil` if it does
    /// not.
    package func take(decoded: Loudness) -> Double? {
        floats?.decoded = decoded
        guard let ceiling = sound.ceiling, let peak = decoded.truePeak, peak > ceiling + 0.05 else { return nil }
        return peak - ceiling
    }

    /// The loudness before and after the change; `nil` if it was not measured.
    package var loudness: LoudnessChange? {
        guard let floats, let before = measurement?.loudness, let after = floats.after else { return nil }
        return LoudnessChange(before: before, gain: floats.gain, after: after)
    }

    /// Warnings about the output.
    package var warnings: [Warning] {
        var warnings = (repair?.warnings ?? []) + (floats?.warnings ?? [])
        if sound.trimSilence != nil, let measurement, measurement.sound == nil {
            warnings.append(Warning(.allSilent, "the whole range is silent, so no silence was removed"))
        }
        return warnings
    }

    /// The requested and the effective settings, by job field name.
    package var effective: [String: Setting] {
        var effective = sound.requested.mapValues { Setting(requested: $0, effective: $0) }
        // Whether samples lose bits is known to what converts them.
        effective["dither"] = nil
        if sound.loudness != nil, let floats {
            effective["gain"] = Setting(effective: "\((floats.gain * 100).rounded() / 100)")
        }
        if let ceiling = sound.ceiling {
            effective["true_peak"] = Setting(requested: sound.truePeak.map { "\($0)" }, effective: "\(ceiling)")
        }
        if let trim = sound.trimSilence {
            let kept = (measurement?.sound).map { "\($0.lowerBound)..<\($0.upperBound)" } ?? "everything"
            effective["trim_silence"] = Setting(requested: trim.description, effective: "samples \(kept)")
        }
        return effective
    }
}

/// Selects a range of samples from consecutive frames.
final class SampleWindow {
    private let range: Range<Int64>
    private var position: Int64 = 0
    private let part: Frame

    init(_ range: Range<Int64>) throws(MediaError) {
        self.range = range
        part = try Frame()
    }

    /// Passes the frame's samples that are in the range to the body.
    func cut(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        let whole = position..<position + Int64(frame.samples)
        position = whole.upperBound
        let inside = whole.clamped(to: range)
        guard !inside.isEmpty else { return }
        guard inside != whole else { return try body(frame) }
        let shape = try frame.shape
        try part.reserve(inside.count, shape)
        av_samples_copy(
            part.planes, frame.planes, 0, CInt(inside.lowerBound - whole.lowerBound), CInt(inside.count),
            CInt(shape.channels), shape.format)
        try body(part)
    }
}
