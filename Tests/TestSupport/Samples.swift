import Glibc

/// Comparisons of samples.
package enum Samples {
    /// Bytes behind each other so many times.
    package static func repeated(_ piece: [UInt8], _ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(piece.count * count)
        for _ in 0..<count { bytes += piece }
        return bytes
    }

    /// The first place at which the samples differ, up to the shorter one's end.
    package static func firstDifference(_ found: [Float], _ expected: ArraySlice<Float>) -> Int? {
        zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    }

    /// The largest difference of samples from others.
    package static func largestDifference(_ found: [Float], _ expected: [Float]) -> Float {
        zip(found, expected).reduce(0) { max($0, abs($1.0 - $1.1)) }
    }

    /// The power of samples in relation to that of their difference from others, in dB.
    package static func decibels(of expected: [Float], over found: [Float]) -> Double {
        var (signal, noise) = (0.0, 1e-20)
        for (expected, found) in zip(expected, found) {
            signal += Double(expected) * Double(expected)
            noise += Double(expected - found) * Double(expected - found)
        }
        return 10 * log10(signal / noise)
    }

    /// The same of samples of 16 bits.
    package static func decibels(of expected: [Int16], over found: [Int16]) -> Double {
        decibels(of: expected.map { Float($0) }, over: found.map { Float($0) })
    }

    /// The correlation of samples with others.
    package static func likeness(_ left: [Int16], _ right: [Int16]) -> Double {
        var (both, one, other) = (0.0, 0.0, 0.0)
        for (left, right) in zip(left, right) {
            both += Double(left) * Double(right)
            one += Double(left) * Double(left)
            other += Double(right) * Double(right)
        }
        return both / (one * other).squareRoot()
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
