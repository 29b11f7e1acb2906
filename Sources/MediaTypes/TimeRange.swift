/// A range of a source, from `start` (inclusive) to `end` (exclusive).
package struct TimeRange: Hashable, Sendable, Codable {
    /// The start, from the first audible sample of the source.
    package let start: MediaTime
    /// The end; `nil` for the end of the source.
    package let end: MediaTime?

    /// The whole source.
    package static let whole = TimeRange(start: .zero, end: nil)

    /// Does not check that the end is after the start.
    package init(start: MediaTime, end: MediaTime?) {
        self.start = start
        self.end = end
    }

    /// The samples of the range at a rate in Hz: the first index, and the index after the last; `nil` if the range is open.
    package func samples(rate: Int) -> (first: Int64, end: Int64?) {
        (start.sampleIndex(rate: rate), end?.sampleIndex(rate: rate))
    }

    /// Whether the range cannot contain a sample.
    package var isEmpty: Bool { end.map { $0 <= start } ?? false }
}
