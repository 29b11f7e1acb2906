/// A set of byte offsets, stored as ranges that neither touch nor overlap.
package struct ByteRanges: Hashable, Sendable {
    /// In ascending order.
    package private(set) var ranges: [Range<Int64>] = []

    /// An empty set.
    package init() {}

    /// The end of the range that contains the offset; `nil` if there is none.
    package func end(containing offset: Int64) -> Int64? {
        ranges.last { $0.lowerBound <= offset }.flatMap { $0.contains(offset) ? $0.upperBound : nil }
    }

    /// The first missing offset at or after the given one.
    package func firstGap(from offset: Int64) -> Int64 { end(containing: offset) ?? offset }

    /// The start of the next range after the offset; `nil` if there is none.
    package func nextStart(after offset: Int64) -> Int64? { ranges.first { $0.lowerBound > offset }?.lowerBound }

    /// Adds a range, merging it with those that it touches.
    package mutating func insert(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        let first = ranges.firstIndex { $0.upperBound >= range.lowerBound } ?? ranges.endIndex
        let end = ranges[first...].firstIndex { $0.lowerBound > range.upperBound } ?? ranges.endIndex
        let touched = ranges[first..<end]
        let lower = min(range.lowerBound, touched.first?.lowerBound ?? range.lowerBound)
        let upper = max(range.upperBound, touched.last?.upperBound ?? range.upperBound)
        ranges.replaceSubrange(first..<end, with: [lower..<upper])
    }
}
