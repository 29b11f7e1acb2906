/// The lowest and the highest of some samples.
struct SampleExtent {
    var low = Float.infinity
    var high = -Float.infinity

    mutating func add(_ samples: Slice<UnsafeBufferPointer<Float>>) {
        var (low, high) = (low, high)
        for sample in samples {
            if sample < low { low = sample }
            if sample > high { high = sample }
        }
        (self.low, self.high) = (low, high)
    }

    mutating func add(_ other: SampleExtent) {
        low = min(low, other.low)
        high = max(high, other.high)
    }

    /// The extent; silence if only NaN samples were added.
    var known: SampleExtent { low <= high ? self : SampleExtent(low: 0, high: 0) }
}

/// The extents of consecutive bins of samples, for several lanes.
struct PeakBins {
    private(set) var samplesPerBin: Int
    /// The extents of each lane.
    private(set) var lanes: [[SampleExtent]]
    private(set) var samples: Int64 = 0
    /// The number of bins at which each two are merged into one; `nil` if the number is unbounded.
    private let capacity: Int?
    private var open: [SampleExtent]
    private var filled = 0

    init(lanes: Int, samplesPerBin: Int, capacity: Int? = nil) {
        self.samplesPerBin = samplesPerBin
        self.capacity = capacity
        self.lanes = Array(repeating: [], count: lanes)
        open = Array(repeating: SampleExtent(), count: lanes)
    }

    mutating func append(_ more: [UnsafeBufferPointer<Float>]) {
        let count = more[0].count
        samples += Int64(count)
        var start = 0
        while start < count {
            let part = start..<start + min(samplesPerBin - filled, count - start)
            for lane in lanes.indices { open[lane].add(more[lane][part]) }
            filled += part.count
            start = part.upperBound
            if filled == samplesPerBin { close() }
        }
    }

    /// Closes the last bin, which may be short.
    mutating func close() {
        guard filled > 0 else { return }
        filled = 0
        for lane in lanes.indices {
            lanes[lane].append(open[lane].known)
            open[lane] = SampleExtent()
        }
        if let capacity, lanes[0].count >= capacity { fold() }
    }

    /// Removes the closed bins.
    mutating func removeAll() {
        for lane in lanes.indices { lanes[lane].removeAll(keepingCapacity: true) }
    }

    /// Joins neighbours, so that there are at most that many closed bins of the same length; the last one may be shorter.
    mutating func join(to maxCount: Int) {
        join((lanes[0].count + maxCount - 1) / maxCount)
    }

    /// The capacity is even, so that no bin is left over.
    private mutating func fold() { join(2) }

    private mutating func join(_ width: Int) {
        guard width > 1 else { return }
        samplesPerBin *= width
        for lane in lanes.indices {
            let count = lanes[lane].count
            let joined = (count + width - 1) / width
            for index in 0..<joined {
                var extent = lanes[lane][width * index]
                for other in width * index + 1..<min(width * index + width, count) { extent.add(lanes[lane][other]) }
                lanes[lane][index] = extent
            }
            lanes[lane].removeLast(count - joined)
        }
    }
}
