/// The bit rates that a codec takes, in bits a second over all channels.
package enum BitRates: Hashable, Sendable {
    case range(ClosedRange<Int>)
    case steps([Int])

    package func contains(_ bitRate: Int) -> Bool {
        switch self {
        case .range(let range): range.contains(bitRate)
        case .steps(let steps): steps.contains(bitRate)
        }
    }

    /// The bit rate nearest to a wish.
    package func nearest(_ bitRate: Int) -> Int {
        switch self {
        case .range(let range): min(max(bitRate, range.lowerBound), range.upperBound)
        case .steps(let steps): steps.min { abs($0 - bitRate) < abs($1 - bitRate) }!
        }
    }
}

extension BitRates: CustomStringConvertible {
    package var description: String {
        switch self {
        case .range(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .steps(let steps): steps.map(String.init).joined(separator: ", ")
        }
    }
}

extension AudioCodec {
    /// The bit rates at a sample rate and number of channels, each left open if nothing; nothing if the codec has none.
    package func bitRates(sampleRate: Int?, channels: Int?) -> BitRates? {
        guard let bitRates else { return nil }
        switch name {
        case "mp3": return .steps(Self.layerThreeBitRates(sampleRate: sampleRate))
        // The bit reservoir holds 6144 bits a channel and frame of 1024 samples; the encoder clamps what is above.
        case "aac":
            return .range(bitRates.lowerBound...((sampleRate ?? highestSampleRate) * 6 * (channels ?? mostChannels)))
        case "vorbis": return Self.vorbisBitRates(sampleRate: sampleRate, channels: channels)
        case "opus": return .range(bitRates.lowerBound...(256_000 * (channels ?? mostChannels)))
        default: return .range(bitRates)
        }
    }

    /// MPEG-1, MPEG-2 and MPEG-2.5 layer III have a list each (ISO 11172-3, 13818-3).
    private static func layerThreeBitRates(sampleRate: Int?) -> [Int] {
        let first = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
        let second = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
        let rates =
            switch sampleRate {
            case .some(32_000...): first
            case .some(16_000...): second
            case .some: second.filter { $0 <= 64 }
            case .none: (second + first.filter { !second.contains($0) }).sorted()
            }
        return rates.map { $0 * 1000 }
    }

    /// libvorbis has set-ups for spans of sample rates, each with its bit rates a channel; above 50 kHz it takes quality alone.
    private static func vorbisBitRates(sampleRate: Int?, channels: Int?) -> BitRates {
        guard let sampleRate else { return .range(6000 * (channels ?? 2)...250_000 * (channels ?? 8)) }
        let (stereo, others, highest) =
            switch sampleRate {
            case ..<9000: (6000, 8000, 42_000)
            case ..<15_000: (8000, 12_000, 50_000)
            case ..<19_000: (12_000, 16_000, 100_000)
            case ..<26_000: (15_000, 16_000, 90_000)
            case ..<40_000: (18_000, 30_000, 190_000)
            case ...50_000: (22_500, 32_000, 240_000)
            default: (0, 0, 0)
            }
        guard highest > 0 else { return .steps([]) }
        let count = channels ?? 2
        return .range((count == 2 ? stereo : others) * count...highest * count)
    }
}
