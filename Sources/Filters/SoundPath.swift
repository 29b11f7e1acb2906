package import Bytes
package import CLibav
package import Libav
package import MediaTypes

/// The way of one output's samples from the decoder to the encoder, as a list of stages.
package final class SoundPath {
    /// In the order of `docs/sound.md`.
    package let stages: [any SoundStage]
    private let sound: SoundSettings
    private let measurement: SoundMeasurement?
    private let level: OutputLevel?

    /// Makes the stages from samples of a shape and a depth to the encoder's shape, or to another sample format. `lowering` in dB
    /// reduces the level of an output that is encoded again. With `measuresFile`, the loudness of the finished file is given to `take`.
    package init(
        _ sound: SoundSettings, _ input: SampleShape, _ depth: SampleDepth, _ settings: EncodingSettings,
        as format: AVSampleFormat? = nil, _ measurement: SoundMeasurement?, lowering: Double = 0,
        measuresFile: Bool = false
    ) throws(MediaError) {
        self.sound = sound
        self.measurement = measurement
        let keepsFloats =
            settings.sampleFormat?.isFloat == true && settings.shape.rate == input.rate && !sound.changesSamples
        var stages = try Self.untilMeasured(
            sound, input, settings, repairs: !keepsFloats, asFloats: sound.changesSamples)
        if let trim = sound.trimSilence {
            stages.append(try TrimStage(trim, stages.last?.output ?? input, measurement))
        }
        var level: OutputLevel?
        if sound.changesSamples {
            let shape = stages.last?.output ?? input
            if let tempo = sound.effectiveTempo { stages.append(try TempoStage(tempo, shape)) }
            stages.append(try SoundLevel(sound, shape, measurement))
            let output = SampleShape(format: shape.format, rate: settings.shape.rate, layout: shape.layout)
            stages.append(
                try SampleConverter(shape, .float32, to: output, bits: nil, dither: nil, engine: sound.resampler))
            let made = try OutputLevel(sound, output, settings, lowering: lowering, measuresFile: measuresFile)
            stages.append(made)
            level = made
        }
        stages.append(
            try SampleConverter(
                stages.last?.output ?? input, sound.changesSamples ? .float32 : depth, for: settings, as: format))
        (self.stages, self.level) = (stages, level)
    }

    /// The stages before silence is sought and loudness is measured, which an analysis shares. The sample rate stays the source's.
    ///
    /// Throws if the settings use a channel or a frequency that the source lacks.
    package static func untilMeasured(
        _ sound: SoundSettings, _ input: SampleShape, _ settings: EncodingSettings, repairs: Bool = true,
        asFloats: Bool = true
    ) throws(MediaError) -> [any SoundStage] {
        var stages: [any SoundStage] = []
        if repairs, FloatRepair.concerns(input.format) { stages.append(try FloatRepair(input)) }
        if let references = sound.channelMap { stages.append(try ChannelMap(references, input)) }
        guard asFloats else { return stages }
        if let matrix = sound.mix { stages.append(try MixStage(matrix, stages.last?.output ?? input)) }
        let shape = stages.last?.output ?? input
        let layout = settings.relabels(shape.layout) ? shape.layout : settings.shape.layout
        stages.append(try MixStage(shape, to: layout))
        if let frequency = sound.highPass {
            stages.append(try CutoffFilter(.highPass, frequency, stages.last!.output))
        }
        if let frequency = sound.lowPass { stages.append(try CutoffFilter(.lowPass, frequency, stages.last!.output)) }
        return stages
    }

    /// Passes the processed samples of a source frame to the body. The frame itself is not changed.
    package func append(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        try stages.append(frame, body)
    }

    /// Flushes the remaining samples to the body.
    package func finish(_ body: FrameBody) throws(MediaError) { try stages.finish(body) }

    /// Stores the loudness of the finished file. Returns by how many dB its true peak exceeds the ceiling; `nil` if it does
    /// not.
    package func take(decoded: Loudness) -> Double? {
        level?.decoded = decoded
        guard let ceiling = sound.ceiling, let peak = decoded.truePeak, peak > ceiling + 0.05 else { return nil }
        return peak - ceiling
    }

    /// The loudness before and after the change; `nil` if it was not measured.
    package var loudness: LoudnessChange? {
        guard let before = measurement?.loudness, let after = level?.after else { return nil }
        return LoudnessChange(before: before, gain: sound.gain(before), after: after)
    }

    /// The requested and the effective settings, by job field name.
    package var effective: [String: Setting] {
        var effective = sound.requested.mapValues { Setting(requested: $0, effective: $0) }
        // Whether samples lose bits is known to what converts them.
        effective["dither"] = nil
        for stage in stages { effective.merge(stage.effective) { $1 } }
        return effective
    }

    /// Warnings about the output.
    package var warnings: [Warning] { stages.flatMap(\.warnings) }
}

extension SoundSettings {
    /// The tempo, unless it changes nothing.
    package var effectiveTempo: Tempo? { tempo.flatMap { $0.isUnity ? nil : $0 } }

    /// The change of level in dB.
    func gain(_ measured: Loudness?) -> Double {
        if let loudness { return measured?.integrated.map { loudness - $0 } ?? 0 }
        return gain ?? 0
    }
}
