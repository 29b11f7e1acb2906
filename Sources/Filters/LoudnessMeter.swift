package import Bytes
import CEbur128
import CLibav
package import Libav
package import MediaTypes

/// Measures loudness as EBU R 128 specifies; owns an `ebur128_state`.
package struct LoudnessMeter: ~Copyable {
    private let state: UnsafeMutablePointer<ebur128_state>
    private let rate: Int
    private let channels: Int
    private let findsMomentary: Bool
    private var samples: Int64 = 0
    private var momentary = -Double.infinity
    private var interleaved: [Float] = []

    private init(owning state: UnsafeMutablePointer<ebur128_state>, _ shape: SampleShape, findsMomentary: Bool) {
        self.state = state
        rate = shape.rate
        channels = shape.channels
        self.findsMomentary = findsMomentary
    }

    deinit {
        var state: UnsafeMutablePointer<ebur128_state>? = state
        ebur128_destroy(&state)
    }

    /// Opens a meter for planar floats. `seconds` is the expected duration, if known.
    package static func open(
        _ shape: SampleShape, seconds: Double?, findsMomentary: Bool = false
    ) throws(MediaError) -> LoudnessMeter {
        // The range that libebur128 accepts (`ebur128_init`).
        guard (1...64).contains(shape.channels), (16...2_822_400).contains(shape.rate) else {
            throw MediaError(
                .unsupportedFormat, "measure loudness",
                "loudness can be measured for 1 to 64 channels at 16 to 2822400 Hz, not for \(shape.channels) at \(shape.rate) Hz"
            )
        }
        var mode = EBUR128_MODE_I.rawValue | EBUR128_MODE_LRA.rawValue | EBUR128_MODE_TRUE_PEAK.rawValue
        // A list of blocks is exact and takes 1.2 MB an hour. A histogram has a fixed size and is accurate to 0.05 LU.
        if seconds.map({ $0 > 4 * 3600 }) ?? true { mode |= EBUR128_MODE_HISTOGRAM.rawValue }
        guard let state = ebur128_init(UInt32(shape.channels), UInt(shape.rate), Int32(mode)) else {
            throw .outOfMemory("measure loudness")
        }
        let meter = LoudnessMeter(owning: state, shape, findsMomentary: findsMomentary)
        let hasSides = shape.layout.place(of: AV_CHAN_SIDE_LEFT) != nil
        for place in 0..<shape.channels {
            ebur128_set_channel(state, UInt32(place), Int32(position(shape.layout.channel(at: place), hasSides)))
        }
        return meter
    }

    /// The channel's position in ITU-R BS.1770-4: surround channels count 1.5 dB more, low-frequency effects are not measured.
    private static func position(_ channel: AVChannel, _ hasSides: Bool) -> UInt32 {
        let position =
            switch channel {
            case AV_CHAN_FRONT_LEFT: EBUR128_LEFT
            case AV_CHAN_FRONT_RIGHT: EBUR128_RIGHT
            case AV_CHAN_LOW_FREQUENCY, AV_CHAN_LOW_FREQUENCY_2: EBUR128_UNUSED
            case AV_CHAN_SIDE_LEFT, AV_CHAN_SURROUND_DIRECT_LEFT: EBUR128_Mp090
            case AV_CHAN_SIDE_RIGHT, AV_CHAN_SURROUND_DIRECT_RIGHT: EBUR128_Mm090
            // Without side channels, the back channels are the surrounds of 5.1.
            case AV_CHAN_BACK_LEFT: hasSides ? EBUR128_Mp135 : EBUR128_LEFT_SURROUND
            case AV_CHAN_BACK_RIGHT: hasSides ? EBUR128_Mm135 : EBUR128_RIGHT_SURROUND
            case AV_CHAN_WIDE_LEFT: EBUR128_Mp060
            case AV_CHAN_WIDE_RIGHT: EBUR128_Mm060
            default: EBUR128_CENTER
            }
        return position.rawValue
    }

    /// Measures a frame of planar floats.
    package mutating func append(_ frame: borrowing Frame) throws(MediaError) {
        var done = 0
        while done < frame.samples {
            let portion = min(frame.samples - done, findsMomentary ? max(rate / 10, 1) : 4096)
            try append(frame, done, portion)
            done += portion
        }
    }

    private mutating func append(_ frame: borrowing Frame, _ start: Int, _ count: Int) throws(MediaError) {
        if interleaved.count < count * channels { interleaved = Array(repeating: 0, count: count * channels) }
        let code = interleaved.withUnsafeMutableBufferPointer { samples in
            let target = samples.baseAddress!
            for channel in 0..<channels {
                let plane = frame.floats(channel) + start
                for index in 0..<count { target[index * channels + channel] = plane[index] }
            }
            return ebur128_add_frames_float(state, target, count)
        }
        guard code == Int32(EBUR128_SUCCESS.rawValue) else { throw .outOfMemory("measure loudness") }
        samples += Int64(count)
        if findsMomentary && samples * 10 >= Int64(rate) * 4 {
            var level = 0.0
            ebur128_loudness_momentary(state, &level)
            momentary = max(momentary, level)
        }
    }

    /// The loudness of the samples so far.
    package var loudness: Loudness {
        var (integrated, range) = (0.0, 0.0)
        ebur128_loudness_global(state, &integrated)
        // A clip shorter than one gating block of 400 ms is measured as one block of the clip's length.
        if samples * 10 < Int64(rate) * 4 && samples > 0 {
            ebur128_loudness_window(state, UInt(max(samples * 1000 / Int64(rate), 1)), &integrated)
            if integrated < -70 { integrated = -.infinity }
        }
        ebur128_loudness_range(state, &range)
        var (highest, highestSample) = (0.0, 0.0)
        for channel in 0..<UInt32(channels) {
            var peak = 0.0
            ebur128_true_peak(state, channel, &peak)
            highest = max(highest, peak)
            ebur128_sample_peak(state, channel, &peak)
            highestSample = max(highestSample, peak)
        }
        func finite(_ value: Double) -> Double? { value.isFinite ? value : nil }
        return Loudness(
            integrated: finite(integrated), range: finite(range), truePeak: finite(decibels(highest)),
            samplePeak: finite(decibels(highestSample)), momentary: findsMomentary ? finite(momentary) : nil)
    }
}
