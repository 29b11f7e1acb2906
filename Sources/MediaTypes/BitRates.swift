/// The bit rates that a codec supports, in bits a second over all channels.
package enum BitRates: Hashable, Sendable {
    case range(ClosedRange<Int>)
    case steps([Int])

    /// Whether the codec supports exactly this bit rate, in bits a second.
    package func contains(_ bitRate: Int) -> Bool {
        switch self {
        case .range(let range): range.contains(bitRate)
        case .steps(let steps): steps.contains(bitRate)
        }
    }

    /// The supported bit rate nearest to the given one.
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

/// How the sample rate and the channel count limit a codec's bit rates.
package enum BitRateRule: Sendable {
    /// The codec has no bit rate.
    case none
    /// No limit.
    case unbounded
    /// The lists of a standard.
    case layerThree, layerTwo, dolby
    /// The modes of an encoder.
    case speexModes, vorbisModes
    /// The size of a frame.
    case bitReservoir, opusFrame, dolbyPlusFrame
}

extension AudioCodec {
    /// The bit rates at a sample rate and channel count, each of which may be `nil` if open; `nil` if the codec has no bit
    /// rate.
    package func bitRates(sampleRate: Int?, channels: Int?) -> BitRates? {
        guard let bitRates else { return nil }
        switch bitRateRule {
        case .none: return nil
        case .unbounded: return .range(bitRates)
        case .layerThree: return .steps(Self.layerThreeBitRates(sampleRate: sampleRate))
        case .layerTwo: return .steps(Self.layerTwoBitRates(sampleRate: sampleRate, channels: channels))
        case .dolby: return .steps(Self.dolbyBitRates(channels: channels))
        case .speexModes: return .steps(Self.speexBitRates(sampleRate: sampleRate, channels: channels))
        case .vorbisModes: return Self.vorbisBitRates(sampleRate: sampleRate, channels: channels)
        // The bit reservoir holds 6144 bits a channel for each frame of 1024 samples. The encoder clamps higher rates.
        case .bitReservoir:
            return .range(bitRates.lowerBound...((sampleRate ?? highestSampleRate) * 6 * (channels ?? maxChannels)))
        case .opusFrame: return .range(bitRates.lowerBound...(256_000 * (channels ?? maxChannels)))
        // A frame of 1536 samples has at most 2048 words.
        case .dolbyPlusFrame:
            return .range(Self.leastDolbyBitRate(channels: channels)...((sampleRate ?? highestSampleRate) * 21))
        }
    }

    /// MPEG-1, MPEG-2 and MPEG-2.5 layer III (ISO 11172-3, 13818-3).
    static func layerThreeBitRates(sampleRate: Int?) -> [Int] {
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

    /// MPEG-1 layer II has separate lists for one and two channels, MPEG-2 has one list (ISO 11172-3 2.4.2.3, 13818-3).
    static func layerTwoBitRates(sampleRate: Int?, channels: Int?) -> [Int] {
        let low = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
        let high = [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]
        let first =
            switch channels {
            case 1: high.filter { $0 <= 192 }
            case 2: high.filter { $0 >= 64 && $0 != 80 }
            default: high
            }
        let rates =
            switch sampleRate {
            case .some(32_000...): first
            case .some: low
            case .none: (low + first.filter { !low.contains($0) }).sorted()
            }
        return rates.map { $0 * 1000 }
    }

    /// The bit rates of A/52 (AC-3).
    static func dolbyBitRates(channels: Int?) -> [Int] {
        let rates = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640]
        return rates.map { $0 * 1000 }.filter { $0 >= leastDolbyBitRate(channels: channels) }
    }

    /// At lower rates, the exponents of some music do not fit into a frame, and the encoder fails.
    private static func leastDolbyBitRate(channels: Int?) -> Int {
        switch channels ?? 1 {
        case 1: 32_000
        case 2: 64_000
        case 3: 96_000
        default: 128_000
        }
    }

    /// The constant bit rates of libspeex's narrowband, wideband and ultra-wideband modes. A second channel adds 800 bits a
    /// second.
    static func speexBitRates(sampleRate: Int?, channels: Int?) -> [Int] {
        let narrow = [2150, 3950, 5950, 8000, 11_000, 15_000, 18_200, 24_600]
        let wide = [3950, 5750, 7750, 9800, 12_800, 16_800, 20_600, 23_800, 27_800, 34_200, 42_200]
        let ultra = [4150, 7550, 9550, 11_600, 14_600, 18_600, 22_400, 25_600, 29_600, 36_000, 44_000]
        let rates =
            switch sampleRate {
            case 8000: narrow
            case 16_000: wide
            case 32_000: ultra
            default: Array(Set(narrow + wide + ultra)).sorted()
            }
        return switch channels {
        case 1: rates
        case 2: rates.map { $0 + 800 }
        default: Array(Set(rates + rates.map { $0 + 800 })).sorted()
        }
    }

    /// libvorbis has a table of bit rates a channel for each range of sample rates. Above 50 kHz it supports only quality.
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
