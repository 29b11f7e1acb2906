/// Noise that is the same in each run.
package struct Noise: RandomNumberGenerator {
    private var state: UInt64

    package init(state: UInt64) { self.state = state }

    package mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        // The upper bits are the most random ones.
        return state.byteSwapped
    }

    /// The bytes of so many samples of 16 bits.
    package mutating func samples(_ count: Int, in range: Range<Int>) -> [UInt8] {
        (0..<count).flatMap { _ in
            let sample = Int.random(in: range, using: &self)
            return [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
        }
    }

    /// A sample between -1 and 1.
    package mutating func sample() -> Float { Float.random(in: -1...1, using: &self) }
}
