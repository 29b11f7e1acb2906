/// An exact instant or duration: a whole number of units of 1/timescale of a second.
package struct MediaTime: Hashable, Sendable {
    /// How many units.
    package let value: Int64
    /// Units a second, always positive.
    package let timescale: Int64

    /// Largest absolute value and timescale, so that sums and products stay exact in 128 bits.
    private static let largest: Int64 = 1 << 53

    package static let zero = MediaTime(value: 0, timescale: 1)

    /// A time in lowest terms; the timescale must be positive.
    package init(value: Int64, timescale: Int64) {
        precondition(timescale > 0, "a timescale is positive")
        let divisor = Self.greatestCommonDivisor(value.magnitude, timescale.magnitude)
        self.value = value / Int64(divisor)
        self.timescale = timescale / Int64(divisor)
    }

    /// The time of a sample at a rate in Hz.
    package init(sample: Int64, rate: Int) {
        self.init(value: sample, timescale: Int64(rate))
    }

    /// The time in seconds, for display only.
    package var seconds: Double { Double(value) / Double(timescale) }

    /// The index of the first sample at or after this time, for a rate in Hz: `ceil(time · rate)`.
    ///
    /// With this rule two ranges that touch share no sample and lose none.
    package func sampleIndex(rate: Int) -> Int64 {
        let product = value.multipliedFullWidth(by: Int64(rate))
        let (quotient, remainder) = timescale.dividingFullWidth(product)
        return remainder > 0 ? quotient + 1 : quotient
    }

    private static func greatestCommonDivisor(_ left: UInt64, _ right: UInt64) -> UInt64 {
        var (left, right) = (left, right)
        while right != 0 { (left, right) = (right, left % right) }
        return max(left, 1)
    }

    private static func combine(_ left: MediaTime, _ right: MediaTime, _ sign: Int64) -> MediaTime {
        let divisor = Int64(greatestCommonDivisor(left.timescale.magnitude, right.timescale.magnitude))
        let scale = left.timescale / divisor * right.timescale
        let sum = left.value * (scale / left.timescale) + sign * right.value * (scale / right.timescale)
        return MediaTime(value: sum, timescale: scale)
    }

    package static func + (left: MediaTime, right: MediaTime) -> MediaTime { combine(left, right, 1) }

    package static func - (left: MediaTime, right: MediaTime) -> MediaTime { combine(left, right, -1) }
}

extension MediaTime: Comparable {
    package static func < (left: MediaTime, right: MediaTime) -> Bool {
        let first = left.value.multipliedFullWidth(by: right.timescale)
        let second = right.value.multipliedFullWidth(by: left.timescale)
        return (first.high, first.low) < (second.high, second.low)
    }
}

extension MediaTime {
    /// Reads `300`, `12.5`, `5:00`, `1:02:03.5` or `13230000/44100`; nothing if the text is none of them.
    package init?(parsing text: String) {
        if let slash = text.firstIndex(of: "/") {
            guard let value = Self.whole(text[..<slash]), let timescale = Self.whole(text[text.index(after: slash)...]),
                timescale > 0, timescale <= 1_000_000_000
            else { return nil }
            self.init(value: value, timescale: timescale)
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), let last = Self.decimal(parts[parts.count - 1]) else { return nil }
        var whole: Int64 = 0
        for (index, part) in parts.dropLast().enumerated() {
            guard let number = Self.whole(part), index == 0 || number < 60 else { return nil }
            whole = whole * 60 + number
        }
        guard parts.count == 1 || last < MediaTime(value: 60, timescale: 1) else { return nil }
        guard whole <= Self.largest / 3600 / 1_000_000_000 * 3600 else { return nil }
        self = MediaTime(value: parts.count == 1 ? 0 : whole * 60, timescale: 1) + last
    }

    /// Reads digits alone, at most 2^53.
    private static func whole(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(text),
            number <= largest
        else { return nil }
        return number
    }

    /// Reads digits with up to nine decimals.
    private static func decimal(_ text: Substring) -> MediaTime? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let seconds = whole(parts[0]), seconds <= 1_000_000_000 else { return nil }
        guard parts.count == 2 else { return MediaTime(value: seconds, timescale: 1) }
        guard parts[1].count <= 9, let fraction = whole(parts[1]) else { return nil }
        let scale = (0..<parts[1].count).reduce(Int64(1)) { scale, _ in scale * 10 }
        return MediaTime(value: seconds * scale + fraction, timescale: scale)
    }
}

extension MediaTime: CustomStringConvertible {
    /// The exact time as `value/timescale`, which `init(parsing:)` reads back.
    package var description: String { timescale == 1 ? "\(value)" : "\(value)/\(timescale)" }
}

extension MediaTime: Codable {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let time = MediaTime(parsing: text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a time: \(text)"))
        }
        self = time
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
