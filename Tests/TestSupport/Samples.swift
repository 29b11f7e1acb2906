/// Comparisons of samples.
package enum Samples {
    /// The first place at which the samples differ, up to the shorter one's end.
    package static func firstDifference(_ found: [Float], _ expected: ArraySlice<Float>) -> Int? {
        zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    }

    /// The largest difference of samples from those of 16 bits, in steps of 16 bits.
    package static func largestDifference(_ found: [Float], _ expected: [Int16]) -> Float {
        zip(found, expected).reduce(0) { max($0, abs(Float($1.1) - $1.0 * 32_768)) }
    }

    /// The sum of the squared differences in a range.
    package static func noise(_ source: [Float], _ result: [Float], _ range: Range<Int>) -> Float {
        range.reduce(0) { $0 + (source[$1] - result[$1]) * (source[$1] - result[$1]) }
    }
}
