/// An exact instant or duration: a whole number of units of 1/timescale of a second.
package struct MediaTime: Hashable, Sendable {
    /// The number of units.
    package let value: Int64
    /// Units a second, always positive.
    package let timescale: Int64

    /// The maximum time in seconds, and the maximum timescale, of a parsed time.
    ///
    /// At any sample rate, sample indexes of such times, and of the sum of two, fit in 64 bits.
    private static let longest: Int64 = 1_000_000_000
    private static let finest: Int64 = 1_000_000_000

    /// The start of the audio.
    package static let zero = MediaTime(value: 0, timescale: 1)

    /// Makes a time in lowest terms. The timescale must be positive.
    package init(value: Int64, timescale: Int64) {
        precondition(timescale > 0, "a timescale must be positive")
        let divisor = Self.greatestCommonDivisor(value.magnitude, timescale.magnitude)
        self.value = value / Int64(divisor)
        self.timescale = timescale / Int64(divisor)
    }

    /// The time of a sample at a rate in Hz.
    package init(sample: Int64, rate: Int) {
        self.init(value: sample, timescale: Int64(rate))
    }

    /// Seconds with at most six decimals, for messages.
    package var text: String {
        let micro = 1_000_000 as Int128
        let product = Int128(value) * micro
        let rounded = (product + (product < 0 ? -1 : 1) * Int128(timescale) / 2) / Int128(timescale)
        let size = rounded.magnitude
        let whole = (rounded < 0 ? "-" : "") + "\(size / 1_000_000)"
        var decimals = String("\(1_000_000 + size % 1_000_000)".dropFirst())
        while decimals.last == "0" { decimals.removeLast() }
        return decimals.isEmpty ? whole : whole + "." + decimals
    }

    /// The time in seconds, for display only.
    package var seconds: Double { Double(value) / Double(timescale) }

    /// The index of the first sample at or after this time, for a rate in Hz: `ceil(time · rate)`.
    ///
    /// With this rule, two adjacent ranges share no sample and omit none. The result is clamped to ±2^62, so that calculations
    /// with a time that a file declares do not overflow.
    package func sampleIndex(rate: Int) -> Int64 {
        let (quotient, remainder) = (Int128(value) * Int128(rate)).quotientAndRemainder(dividingBy: Int128(timescale))
        let farthest = Int128(1) << 62
        return Int64(min(max(quotient + (remainder > 0 ? 1 : 0), -farthest), farthest))
    }

    /// The index of the sample nearest to this time, for a rate in Hz, clamped like `sampleIndex`.
    package func nearestSample(rate: Int) -> Int64 {
        let product = Int128(value) * Int128(rate)
        let rounded = (product + (product < 0 ? -1 : 1) * Int128(timescale) / 2) / Int128(timescale)
        let farthest = Int128(1) << 62
        return Int64(min(max(rounded, -farthest), farthest))
    }

    /// The exact sum; `nil` if it does not fit in 64 bits.
    package func adding(_ other: MediaTime) -> MediaTime? {
        let common = Self.greatestCommonDivisor(timescale.magnitude, other.timescale.magnitude)
        let (own, others) = (timescale / Int64(common), other.timescale / Int64(common))
        let scale = Int128(timescale) * Int128(others)
        let sum = Int128(value) * Int128(others) + Int128(other.value) * Int128(own)
        let divisor = Int128(Self.greatestCommonDivisor(sum.magnitude, scale.magnitude))
        guard let value = Int64(exactly: sum / divisor), let timescale = Int64(exactly: scale / divisor) else {
            return nil
        }
        return MediaTime(value: value, timescale: timescale)
    }

    private static func greatestCommonDivisor<Number: UnsignedInteger>(_ left: Number, _ right: Number) -> Number {
        var (left, right) = (left, right)
        while right != 0 { (left, right) = (right, left % right) }
        return max(left, 1)
    }
}

extension MediaTime: Comparable {
    package static func < (left: MediaTime, right: MediaTime) -> Bool {
        let first = left.value.multipliedFullWidth(by: right.timescale)
        let second = right.value.multipliedFullWidth(by: left.timescale)
        return (first.high, first.low) < (second.high, second.low)
    }
}

extension MediaTime {
    /// Parses `300`, `12.5`, `5:00`, `1:02:03.5` or `13230000/44100`, up to 1,000,000,000 s; `nil` if the text is none of
    /// these.
    package init?(parsing text: String) {
        if let slash = text.firstIndex(of: "/") {
            guard let value = Self.whole(text[..<slash]), let timescale = Self.whole(text[text.index(after: slash)...]),
                (1...Self.finest).contains(timescale), value / timescale < Self.longest
            else { return nil }
            self.init(value: value, timescale: timescale)
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), let last = Self.decimal(parts[parts.count - 1]) else { return nil }
        var minutes: Int64 = 0
        for (index, part) in parts.dropLast().enumerated() {
            guard let number = Self.whole(part), number < (index == 0 ? Self.longest / 60 : 60) else { return nil }
            minutes = minutes * 60 + number
        }
        guard parts.count == 1 || last < MediaTime(value: 60, timescale: 1) else { return nil }
        guard minutes < Self.longest / 60, let sum = MediaTime(value: minutes * 60, timescale: 1).adding(last) else {
            return nil
        }
        self = sum
    }

    /// Parses digits only.
    private static func whole(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int64(text)
    }

    /// Parses digits with up to nine decimals.
    private static func decimal(_ text: Substring) -> MediaTime? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let seconds = whole(parts[0]), seconds < longest else { return nil }
        guard parts.count == 2 else { return MediaTime(value: seconds, timescale: 1) }
        guard parts[1].utf8.count <= 9, let fraction = whole(parts[1]) else { return nil }
        let scale = (0..<parts[1].utf8.count).reduce(Int64(1)) { scale, _ in scale * 10 }
        return MediaTime(value: seconds * scale + fraction, timescale: scale)
    }
}

extension MediaTime: CustomStringConvertible {
    /// The exact time as `value/timescale`, or `value` for whole seconds.
    package var description: String { timescale == 1 ? "\(value)" : "\(value)/\(timescale)" }
}

extension MediaTime: Codable {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        // Not `init(parsing:)`, because the sum of two parsed times may be longer or finer than a parsed time.
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int64($0) }
        guard (1...2).contains(parts.count), let value = parts[0],
            let timescale = parts.count == 1 ? 1 : parts[1], timescale > 0
        else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a time: \(text)"))
        }
        self.init(value: value, timescale: timescale)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
