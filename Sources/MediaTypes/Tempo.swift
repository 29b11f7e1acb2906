/// A factor of speed as an exact fraction. Audio is 1/tempo as long, and keeps its pitch.
package struct Tempo: Codable, Hashable, Sendable {
    private let numerator: Int64
    private let denominator: Int64

    /// The supported factors.
    package static let factors = 0.5...4.0

    /// Parses `1.25` or `5/4`; `nil` if the text is no supported factor.
    package init?(parsing text: String) {
        guard !text.contains(":"), let factor = MediaTime(parsing: text), Self.factors.contains(factor.seconds) else {
            return nil
        }
        (numerator, denominator) = (factor.value, factor.timescale)
    }

    /// Whether the audio keeps its length.
    package var isUnity: Bool { numerator == denominator }

    /// The length of the result as a factor of the source's.
    package var stretch: Double { Double(denominator) / Double(numerator) }

    /// The samples of the result of `count` samples: `ceil(count ÷ tempo)`.
    package func samples(_ count: Int64) -> Int64 {
        let (quotient, remainder) = (Int128(count) * Int128(denominator)).quotientAndRemainder(
            dividingBy: Int128(numerator))
        return Int64(clamping: quotient + (remainder > 0 ? 1 : 0))
    }

    /// When an instant of the source is heard in the result, in the same unit, rounded to the nearest.
    package func moved(_ instant: Int64) -> Int64 {
        // The end of a chapter that has none stays the latest time.
        guard instant != .max else { return instant }
        return Int64(clamping: (Int128(instant) * Int128(denominator) + Int128(numerator / 2)) / Int128(numerator))
    }
}

extension Tempo: CustomStringConvertible {
    package var description: String { "\(Double(numerator) / Double(denominator))" }
}
