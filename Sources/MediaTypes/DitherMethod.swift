/// The noise that is added to samples before they lose bits.
package enum DitherMethod: String, Codable, Hashable, Sendable, CaseIterable {
    case none
    /// Noise of one step, evenly distributed.
    case rectangular
    /// Noise of two steps, triangularly distributed: the error does not depend on the signal.
    case triangular
    /// The error is moved to frequencies at which hearing is less sensitive.
    case shaped

    /// The sample rates in Hz at which libswresample has filters for `shaped`.
    package static let shapedRates = [8000, 11025, 16000, 22050, 32000, 37800, 44100, 48000]
}

extension AudioCodec {
    /// The methods that a job may request; empty if the encoder takes floating-point samples.
    package var ditherMethods: [DitherMethod] {
        switch input {
        case .short, .planarShort: DitherMethod.allCases
        default: kind == .lossy ? [] : DitherMethod.allCases
        }
    }
}

extension Rendition {
    /// Validates the dither, at the requested sample rate.
    package func checkDither(_ format: AudioFormat, _ codec: AudioCodec) throws(FormatProblem) {
        guard let dither = sound.dither else { return }
        guard !format.isPicture, !codec.ditherMethods.isEmpty else {
            let name = format.isPicture ? format.name : codec.name
            throw FormatProblem(
                "dither",
                "\(name) is made from floating-point samples, and dither is \(dither.rawValue); leave dither out")
        }
        if let sampleFormat, sampleFormat.isFloat {
            throw FormatProblem(
                "dither",
                "sample_format \(sampleFormat.rawValue) loses no bits, and dither is \(dither.rawValue); leave dither out"
            )
        }
        if dither == .shaped, let rate = sampleRate, !DitherMethod.shapedRates.contains(rate) {
            let rates = DitherMethod.shapedRates.map(String.init).joined(separator: ", ")
            throw FormatProblem(
                "dither", "dither shaped does not support \(rate) Hz; it supports \(rates) Hz; give triangular instead")
        }
    }
}
