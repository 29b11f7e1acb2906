import Bytes
import CLibav
import Libav
import MediaTypes

/// The gain and the fades, on planar floats at the source's rate.
final class SoundLevel: SoundStage {
    let output: SampleShape
    private let sound: SoundSettings
    private let measured: Loudness?
    private let gain: Float
    private let channels: Int
    private let fadeIn: Fade?
    private let fadeOut: Fade?
    /// The total number of samples; `nil` if no analysis pass has counted them.
    private let total: Int64?
    /// The last samples so far, if the total is not known.
    private let held: SampleFifo
    private let portion: Frame
    private var taken: Int64 = 0
    private var given: Int64 = 0

    init(_ sound: SoundSettings, _ shape: SampleShape, _ measurement: SoundMeasurement?) throws(MediaError) {
        output = shape
        self.sound = sound
        measured = measurement?.loudness
        gain = Float(factor(decibels: sound.gain(measured)))
        channels = shape.channels
        fadeIn = sound.fadeIn.map { Fade(length: $0.sampleIndex(rate: shape.rate)) }
        fadeOut = sound.fadeOut.map { Fade(length: $0.sampleIndex(rate: shape.rate)) }
        let kept = measurement.map { Int64(($0.sound ?? 0..<$0.samples).count) }
        total = kept.map { sound.effectiveTempo?.samples($0) ?? $0 }
        portion = try Frame()
        held = try SampleFifo.open(shape, capacity: 1)
    }

    func append(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        frame.multiply(by: gain, channels: channels)
        fadeIn?.raise(frame, channels: channels, from: taken)
        taken += Int64(frame.samples)
        guard let fadeOut else { return try body(frame) }
        if let total {
            fadeOut.lower(frame, channels: channels, from: taken - Int64(frame.samples), total: total)
            return try body(frame)
        }
        try held.append(frame)
        try give(Int64(held.count) - fadeOut.length, body)
    }

    func finish(_ body: FrameBody) throws(MediaError) {
        try give(Int64(held.count), body)
    }

    private func give(_ count: Int64, _ body: FrameBody) throws(MediaError) {
        var left = count
        while left > 0 {
            let size = min(left, 4096)
            try held.take(Int(size), into: portion)
            // Before the end, the total so far is too low by exactly the held samples, so no sample passed on is in the fade.
            fadeOut?.lower(portion, channels: channels, from: given, total: taken)
            given += size
            left -= size
            try body(portion)
        }
    }

    var effective: [String: Setting] {
        guard sound.loudness != nil else { return [:] }
        return ["gain": Setting(effective: "\((sound.gain(measured) * 100).rounded() / 100)")]
    }

    var warnings: [Warning] {
        guard sound.loudness != nil, measured?.integrated == nil else { return [] }
        return [
            Warning(.loudnessUnmeasured, "the range is silent or too quiet to measure, so its level is unchanged")
        ]
    }
}

extension Frame {
    /// Multiplies planar floats by a factor.
    func multiply(by factor: Float, channels: Int) {
        guard factor != 1 else { return }
        for channel in 0..<channels {
            let samples = floats(channel)
            for index in 0..<self.samples { samples[index] *= factor }
        }
    }
}
