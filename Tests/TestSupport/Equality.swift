// Comparisons of samples and bytes in optimized code: in the targets of tests, those of the standard library are not specialized, and
// take a hundred times as long.

package func == (left: [Float], right: [Float]) -> Bool { left[...].elementsEqual(right[...]) }

package func == (left: [Int16], right: [Int16]) -> Bool {
    left.withUnsafeBufferPointer { left in right.withUnsafeBufferPointer { isEqual(left, $0) } }
}

package func == (left: [UInt8], right: [UInt8]) -> Bool {
    left.withUnsafeBufferPointer { left in right.withUnsafeBufferPointer { isEqual(left, $0) } }
}

extension ArraySlice where Element == Float {
    package func elementsEqual(_ other: ArraySlice<Float>) -> Bool {
        withUnsafeBufferPointer { own in other.withUnsafeBufferPointer { isEqual(own, $0) } }
    }
}

extension Array where Element == Float {
    package func elementsEqual(_ other: [Float]) -> Bool { self == other }

    package func elementsEqual(_ other: ArraySlice<Float>) -> Bool { self[...].elementsEqual(other) }

    package func starts(with other: [Float]) -> Bool { prefix(other.count).elementsEqual(other[...]) }
}

private func isEqual<Number: Equatable>(
    _ left: UnsafeBufferPointer<Number>, _ right: UnsafeBufferPointer<Number>
) -> Bool {
    left.count == right.count && left.indices.allSatisfy { left[$0] == right[$0] }
}
