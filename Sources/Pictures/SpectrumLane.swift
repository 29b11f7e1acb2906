import Bytes
import Filters
import Glibc

/// The spectra of one lane: a column for each `hop` samples, in which each row is the highest level of its frequencies.
///
/// If there are too many columns, each two are merged into one of twice the samples. This bounds the memory, and the windows
/// still cover every sample.
struct SpectrumLane: ~Copyable {
    let rows: Int
    /// The levels, column by column, from the lowest frequency up. 255 is full scale, 0 is `dynamicRange` dB below it.
    private(set) var levels: [UInt8] = []
    private let transform: FourierTransform
    private let capacity: Int
    private let dynamicRange: Float
    /// Samples in a column.
    private var hop = 16
    private var powers: [Float]
    private var isEmpty = true
    /// Samples that later windows need. `origin` is the index of the first one.
    private var pending: [Float]
    private var origin: Int
    /// The center of the next window.
    private var middle = 0
    private var samples = 0

    private init(_ transform: consuming FourierTransform, rows: Int, columns: Int, dynamicRange: Double) {
        self.rows = rows
        capacity = columns * 2
        self.dynamicRange = Float(dynamicRange)
        powers = Array(repeating: 0, count: rows)
        origin = -transform.size / 2
        pending = Array(repeating: 0, count: transform.size / 2)
        self.transform = transform
    }

    static func open(rows: Int, columns: Int, dynamicRange: Double) throws(MediaError) -> SpectrumLane {
        var size = 2048
        while size < rows * 2 { size *= 2 }
        let transform = try FourierTransform.open(size: size)
        return SpectrumLane(transform, rows: rows, columns: columns, dynamicRange: dynamicRange)
    }

    /// The number of columns so far.
    var columns: Int { levels.count / rows }

    mutating func append(_ more: UnsafeBufferPointer<Float>) {
        pending.append(contentsOf: more.lazy.map { $0.isFinite ? $0 : 0 })
        samples += more.count
        analyze()
    }

    mutating func finish() {
        pending.append(contentsOf: repeatElement(0, count: transform.size / 2))
        analyze()
        if !isEmpty { close() }
    }

    private mutating func analyze() {
        let half = transform.size / 2
        while middle < samples, middle + half - origin <= pending.count {
            if middle >= (columns + 1) * hop { close() }
            let start = middle - half - origin
            transform.raise(&powers, by: pending[start..<start + 2 * half])
            isEmpty = false
            middle += min(hop, half)
        }
        let done = min(max(0, middle - half - origin), pending.count)
        pending.removeFirst(done)
        origin += done
    }

    private mutating func close() {
        for row in powers.indices {
            let decibels = 10 * log10f(max(powers[row], 1e-30))
            levels.append(UInt8(max(0, min(255, ((decibels / dynamicRange + 1) * 255).rounded()))))
            powers[row] = 0
        }
        isEmpty = true
        if columns >= capacity { fold() }
    }

    private mutating func fold() {
        hop *= 2
        let half = columns / 2
        for column in 0..<half {
            let (to, from) = (column * rows, 2 * column * rows)
            for row in 0..<rows { levels[to + row] = max(levels[from + row], levels[from + rows + row]) }
        }
        levels.removeLast(levels.count - half * rows)
    }
}
