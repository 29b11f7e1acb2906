import Glibc
import Lifecycle

/// Synthesized chords. At the start of each minute there are as many pips as minutes have passed, so that a cut is audible.
struct DemoAudio {
    let minutes: Int

    private static let rate = 44_100
    /// Seconds per bar; 15 bars are a minute.
    private static let barLength = 4
    /// Frequencies of the chords' notes in Hz: C, A minor, F, G, E minor.
    private static let chords: [[Float]] = [
        [130.81, 261.63, 329.63, 392.00], [110.00, 261.63, 329.63, 440.00], [87.31, 261.63, 349.23, 440.00],
        [98.00, 246.94, 293.66, 392.00], [82.41, 246.94, 329.63, 493.88],
    ]

    /// Writes the audio as 16-bit stereo WAV at 44.1 kHz.
    func write(to path: String) throws(CommandFailure) {
        let number = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard number >= 0 else { throw .failed("cannot write '\(path)': \(Errno.last)") }
        let file = Descriptor(owning: number)
        let bars = Self.chords.indices.map { Self.bytes(Self.bar(chord: $0)) }
        try Self.write(Self.header(frames: minutes * 60 * Self.rate), to: file, path)
        for minute in 0..<minutes {
            try Self.write(Self.bytes(Self.bar(chord: 0, pips: minute)), to: file, path)
            for index in 1..<(60 / Self.barLength) { try Self.write(bars[index % bars.count], to: file, path) }
        }
    }

    /// A bar in which a chord is followed by its single notes. The samples of left and right are interleaved.
    private static func bar(chord: Int, pips: Int = 0) -> [Float] {
        var samples = [Float](repeating: 0, count: barLength * rate * 2)
        for (index, frequency) in chords[chord].enumerated() {
            let left = 0.35 + 0.3 * Float(index) / 3
            add(Note(frequency: frequency, start: 0, length: 4, level: 0.14, left: left), to: &samples)
            add(
                Note(
                    frequency: frequency * 2, start: 0.5 + 0.5 * Float(index), length: 1.5, level: 0.08, left: 1 - left),
                to: &samples)
        }
        for pip in 0..<min(pips, 16) {
            add(Note(frequency: 1000, start: 0.25 * Float(pip), length: 0.1, level: 0.3, left: 0.5), to: &samples)
        }
        return samples
    }

    private struct Note {
        let frequency: Float
        /// Seconds.
        let start: Float
        /// Seconds.
        let length: Float
        let level: Float
        /// The left channel's share of the level.
        let left: Float
    }

    /// Adds a decaying sine. It is computed by rotating a vector, without a call of `sinf` per sample.
    private static func add(_ note: Note, to samples: inout [Float]) {
        let first = Int(note.start * Float(rate))
        let count = min(Int(note.length * Float(rate)), samples.count / 2 - first)
        let step = 2 * Float.pi * note.frequency / Float(rate)
        let (cosine, sine) = (cosf(step), sinf(step))
        let fade = powf(0.02, 1 / Float(count))
        var (real, imaginary, level) = (Float(1), Float(0), note.level)
        samples.withUnsafeMutableBufferPointer { samples in
            for index in 0..<count {
                // Fades of 10 ms at both ends prevent clicks.
                let edge = min(1, Float(min(index, count - 1 - index)) / 441)
                let value = imaginary * level * edge
                samples[(first + index) * 2] += value * note.left
                samples[(first + index) * 2 + 1] += value * (1 - note.left)
                (real, imaginary) = (real * cosine - imaginary * sine, real * sine + imaginary * cosine)
                level *= fade
            }
        }
    }

    private static func bytes(_ samples: [Float]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: samples.count * 2) { buffer, count in
            for (index, sample) in samples.enumerated() {
                let value = UInt16(bitPattern: Int16(max(-1, min(1, sample)) * 32_767))
                buffer[index * 2] = UInt8(truncatingIfNeeded: value)
                buffer[index * 2 + 1] = UInt8(truncatingIfNeeded: value >> 8)
            }
            count = samples.count * 2
        }
    }

    /// The headers of RIFF, `fmt ` and `data`.
    private static func header(frames: Int) -> [UInt8] {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let size = frames * 4
        return Array("RIFF".utf8) + little(36 + size, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + little(1, 2)
            + little(2, 2) + little(rate, 4) + little(rate * 4, 4) + little(4, 2) + little(16, 2) + Array("data".utf8)
            + little(size, 4)
    }

    private static func write(_ bytes: [UInt8], to file: borrowing Descriptor, _ path: String) throws(CommandFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file.number, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .failed("cannot write '\(path)': \(Errno.last)") }
            rest = rest.dropFirst(count)
        }
    }
}
