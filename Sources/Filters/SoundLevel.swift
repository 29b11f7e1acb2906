import Bytes
import CLibav
import Libav
import MediaTypes

/// The second stage of the chain: level and fades, on planar floats at the source's rate.
final class SoundLevel {
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

    init(_ sound: SoundSettings, _ shape: SampleShape, gain: Double, total: Int64?) throws(MediaError) {
        self.gain = Float(factor(decibels: gain))
        channels = shape.channels
        fadeIn = sound.fadeIn.map { Fade(length: $0.sampleIndex(rate: shape.rate)) }
        fadeOut = sound.fadeOut.map { Fade(length: $0.sampleIndex(rate: shape.rate)) }
        self.total = total
        portion = try Frame()
        held = try SampleFifo.open(shape, capacity: 1)
    }

    func apply(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        if gain != 1 {
            for channel in 0..<channels {
                let samples = frame.floats(channel)
                for index in 0..<frame.samples { samples[index] *= gain }
            }
        }
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

    /// Flushes the held samples.
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
}
