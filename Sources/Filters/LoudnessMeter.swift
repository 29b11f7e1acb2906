package import Bytes
import CEbur128
import CLibav
package import Libav

/// Measures consecutive samples as EBU R 128 specifies; owns an `ebur128_state`, which weights and sums them.
package struct LoudnessMeter: ~Copyable {
    /// What was measured of each complete 100 ms, and of the rest once `finish` was called.
    package private(set) var blocks = LoudnessBlocks()
    private let state: UnsafeMutablePointer<ebur128_state>
    private let channels: Int
    /// The number of samples in 100 ms.
    private let hop: Int
    private let peaks: PeakScan
    /// The samples before and within the current 100 ms, of each channel.
    private var planes: [[Float]]
    private var filled = 0
    private var interleaved: [Float]
    /// How many times 100 ms are still to pass the filters without being measured.
    private var lead: Int
    private let isStart: Bool

    private init(owning state: UnsafeMutablePointer<ebur128_state>, _ shape: SampleShape, lead: Int) {
        self.state = state
        channels = shape.channels
        hop = Self.hop(rate: shape.rate)
        peaks = PeakScan(rate: shape.rate)
        planes = Array(repeating: Array(repeating: 0, count: PeakScan.history + hop), count: channels)
        interleaved = Array(repeating: 0, count: hop * channels)
        self.lead = lead
        isStart = lead == 0
    }

    deinit {
        var state: UnsafeMutablePointer<ebur128_state>? = state
        ebur128_destroy(&state)
    }

    /// The number of samples in 100 ms at a rate in Hz, which is how libebur128 rounds it.
    package static func hop(rate: Int) -> Int { rate / 10 }

    /// How many times 100 ms before a part of a stream have to be appended before it. The slowest pole of the K-weighting is at
    /// 38 Hz, so the samples before these change the result by less than 1e-18. The interpolation needs 31 samples.
    package static func lead(rate: Int) -> Int { max(2, PeakScan.history / hop(rate: rate) + 1) }

    /// Opens a meter for planar floats. The first `lead` times 100 ms precede what is measured.
    package static func open(_ shape: SampleShape, lead: Int = 0) throws(MediaError) -> LoudnessMeter {
        // `ebur128_init` accepts rates from 16 Hz, but its filters are for sound: at 16 Hz they hung or broke memory.
        guard (1...64).contains(shape.channels), (1000...2_822_400).contains(shape.rate) else {
            throw MediaError(
                .unsupportedFormat, "measure loudness",
                "loudness can be measured for 1 to 64 channels at 1000 to 2822400 Hz, not for \(shape.channels) at \(shape.rate) Hz"
            )
        }
        guard let state = ebur128_init(UInt32(shape.channels), UInt(shape.rate), Int32(EBUR128_MODE_M.rawValue)) else {
            throw .outOfMemory("measure loudness")
        }
        let meter = LoudnessMeter(owning: state, shape, lead: lead)
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

    /// Measures a frame of planar floats, or a range of its samples.
    package mutating func append(_ frame: borrowing Frame, _ range: Range<Int>? = nil) throws(MediaError) {
        var done = range?.lowerBound ?? 0
        let end = range?.upperBound ?? frame.samples
        while done < end {
            let count = min(end - done, hop - filled)
            for channel in 0..<channels {
                planes[channel].withUnsafeMutableBufferPointer { plane in
                    let target = plane.baseAddress! + PeakScan.history + filled
                    target.update(from: frame.floats(channel) + done, count: count)
                }
            }
            filled += count
            done += count
            if filled == hop { try measure() }
        }
    }

    /// Measures the samples after the last complete 100 ms.
    package mutating func finish() throws(MediaError) {
        let samples = blocks.energies.count * hop + filled
        if filled > 0 { try measure() }
        guard isStart, blocks.energies.count < 4, samples > 0 else { return }
        blocks.whole = energy(milliseconds: max(samples * 1000 / (hop * 10), 1))
    }

    private mutating func measure() throws(MediaError) {
        let (count, isLead) = (filled, lead > 0)
        for channel in 0..<channels {
            planes[channel].withUnsafeMutableBufferPointer { plane in
                let samples = plane.baseAddress! + PeakScan.history
                interleaved.withUnsafeMutableBufferPointer { target in
                    for index in 0..<count { target[index * channels + channel] = samples[index] }
                }
                if !isLead { peaks.scan(samples, count, &blocks.samplePeak, &blocks.truePeak) }
                plane.baseAddress!.update(from: plane.baseAddress! + count, count: PeakScan.history)
            }
        }
        filled = 0
        guard ebur128_add_frames_float(state, interleaved, count) == Int32(EBUR128_SUCCESS.rawValue) else {
            throw .outOfMemory("measure loudness")
        }
        if isLead { lead -= 1 } else if count == hop { blocks.energies.append(energy(milliseconds: 100)) }
    }

    /// The energy of the last samples.
    private borrowing func energy(milliseconds: Int) -> Double {
        var level = -Double.infinity
        ebur128_loudness_window(state, UInt(milliseconds), &level)
        return LoudnessBlocks.energy(level)
    }
}
