import Libav

/// Finds the frame of planar floats with the strongest attack: where high frequencies become much louder than just before.
///
/// Encoders of Vorbis switch to short blocks at an attack, and from then on have the same blocks wherever they began.
struct AttackFinder {
    /// The frame with the strongest attack so far; `nil` in silence. It is the loudest of small changes if there is no attack.
    private(set) var strongest: Int?
    private var strongestRise: Float = 1
    private var channels: [ChannelEnergies]
    /// Frames that were added.
    private var count = 0

    init(channels: Int) { self.channels = .init(repeating: ChannelEnergies(), count: channels) }

    /// Adds the next frame.
    mutating func add(_ frame: borrowing Frame, number: Int) {
        count += 1
        for channel in channels.indices {
            let samples = UnsafeBufferPointer(start: frame.floats(channel), count: frame.samples)
            let rise = channels[channel].rise(adding: samples)
            // The first frames have none before them.
            guard count > ChannelEnergies.memory, rise > strongestRise else { continue }
            (strongest, strongestRise) = (number, rise)
        }
    }
}

/// The energies of high frequencies in the last frames of a channel.
private struct ChannelEnergies {
    /// The number of frames.
    static let memory = 14
    private var energies = [Float](repeating: 0, count: memory)
    private var next = 0
    private var samplesBefore: (Float, Float) = (0, 0)

    /// Adds a frame, and returns how much the last two are louder than the twelve before.
    mutating func rise(adding samples: UnsafeBufferPointer<Float>) -> Float {
        var sum: Float = 0
        for sample in samples {
            // The second difference rises by 12 dB an octave.
            let difference = sample - 2 * samplesBefore.0 + samplesBefore.1
            sum += difference * difference
            samplesBefore = (sample, samplesBefore.0)
        }
        energies[next] = sum / Float(max(samples.count, 1))
        let last = (next + Self.memory - 1) % Self.memory
        let loud = max(energies[next], energies[last])
        var before = Self.silence
        for index in energies.indices where index != next && index != last { before = max(before, energies[index]) }
        next = (next + 1) % Self.memory
        return loud / before
    }

    /// What is less loud is no attack: −70 dB.
    private static let silence: Float = 1e-7
}
