import Bytes
import Glibc
import Libav

/// A high-pass or low-pass filter of second order, 12 dB an octave: those that libavfilter's `highpass` and `lowpass` compute
/// (R. Bristow-Johnson's formulas with Q = 0.707), and 3 dB below full level at their frequency.
final class CutoffFilter: SoundStage {
    /// By the name of the job field.
    enum Kind: String {
        case highPass = "high_pass"
        case lowPass = "low_pass"
    }

    let output: SampleShape
    private let feedForward: (Double, Double, Double)
    private let feedBack: (Double, Double)
    private var states: [State]

    /// The last two samples of a channel before and after the filter.
    private struct State {
        var (input1, input2, output1, output2) = (0.0, 0.0, 0.0, 0.0)
    }

    /// Makes a filter for a frequency in Hz. Throws if samples of this rate cannot contain it.
    init(_ kind: Kind, _ frequency: Double, _ shape: SampleShape) throws(MediaError) {
        let rate = shape.rate
        guard frequency * 2 < Double(rate) else {
            throw MediaError(
                .invalidSettings, "filter samples",
                "\(kind.rawValue) is \(frequency) Hz, and the source's sample rate is \(rate) Hz; give less than \(Double(rate) / 2) Hz"
            )
        }
        let angle = 2 * Double.pi * frequency / Double(rate)
        let alpha = sin(angle) / (2 * 0.707)
        let scale = 1 / (1 + alpha)
        let sign: Double = kind == .highPass ? -1 : 1
        let outer = (1 - sign * cos(angle)) / 2 * scale
        feedForward = (outer, sign * 2 * outer, outer)
        feedBack = (-2 * cos(angle) * scale, (1 - alpha) * scale)
        output = shape
        states = Array(repeating: State(), count: shape.channels)
    }

    /// Replaces the planar floats of a frame by the filtered ones.
    func append(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        let (forward, back) = (feedForward, feedBack)
        for channel in states.indices {
            var state = states[channel]
            let samples = frame.floats(channel)
            for index in 0..<frame.samples {
                let input = Double(samples[index])
                let output =
                    forward.0 * input + forward.1 * state.input1 + forward.2 * state.input2 - back.0 * state.output1
                    - back.1 * state.output2
                (state.input2, state.input1) = (state.input1, input)
                (state.output2, state.output1) = (state.output1, output)
                samples[index] = Float(output)
            }
            // In silence, the output would decay to subnormal numbers, which are slow.
            if abs(state.output1) + abs(state.output2) < 1e-30 { (state.output1, state.output2) = (0, 0) }
            states[channel] = state
        }
        try body(frame)
    }
}
