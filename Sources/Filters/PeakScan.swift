/// Finds the highest sample and the highest true peak of a signal, without their places.
struct PeakScan {
    /// The number of samples before the first one that the interpolation needs.
    static let history = TruePeakDetector.taps - 1
    /// How many points are interpolated between two samples: none where the samples themselves are close enough.
    private let points: Int

    init(rate: Int) { points = rate < 96_000 ? 3 : rate < 192_000 ? 1 : 0 }

    /// Raises both peaks to those of the samples. `history` samples precede the pointer.
    func scan(_ samples: UnsafePointer<Float>, _ count: Int, _ samplePeak: inout Float, _ truePeak: inout Float) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: TruePeakDetector.block) { room in
            for start in stride(from: 0, to: count, by: TruePeakDetector.block) {
                let size = min(TruePeakDetector.block, count - start)
                let near = samples + start - Self.history
                let highest = TruePeakDetector.highest(near, size + Self.history)
                samplePeak = max(samplePeak, highest)
                truePeak = max(truePeak, highest)
                guard points > 0, highest * TruePeakDetector.gain > truePeak else { continue }
                room.initialize(repeating: 0)
                TruePeakDetector.interpolate(near, size, points: points, into: room.baseAddress!)
                truePeak = max(truePeak, TruePeakDetector.highest(room.baseAddress!, size))
            }
        }
    }
}
