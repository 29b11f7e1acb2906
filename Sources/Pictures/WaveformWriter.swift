import Bytes
import MediaTypes

/// Draws the waveform: each column spans the lowest to the highest sample. The lanes are stacked.
final class WaveformWriter: SoundDrawing {
    private let canvas: PictureCanvas
    private var bins: PeakBins
    /// The maximum number of bins in a column. Once there are more samples than that, a column has at least half as many bins.
    private static let binsPerColumn = 8

    init(_ canvas: PictureCanvas, lanes: Int) {
        self.canvas = canvas
        bins = PeakBins(lanes: lanes, samplesPerBin: 1, capacity: canvas.size.width * Self.binsPerColumn)
    }

    func append(_ lanes: [UnsafeBufferPointer<Float>]) throws(MediaError) { bins.append(lanes) }

    func finish() throws(MediaError) {
        bins.close()
        let pixels = try PixelFile(canvas, [canvas.settings.background, canvas.settings.foreground])
        var row = [UInt8](repeating: 0, count: canvas.size.width)
        for lane in bins.lanes.indices {
            let rows = canvas.size.rows(ofLane: lane, of: bins.lanes.count)
            let spans = spans(bins.lanes[lane], height: rows.count)
            for line in 0..<rows.count {
                for column in spans.indices { row[column] = spans[column].contains(line) ? 1 : 0 }
                try pixels.append(row: row)
            }
        }
        try pixels.finish()
    }

    /// The rows to draw in each column, from the top of the lane.
    private func spans(_ extents: [SampleExtent], height: Int) -> [Range<Int>] {
        var last: SampleExtent?
        return (0..<canvas.size.width).map { column in
            var extent = self.extent(extents, column)
            let own = extent
            // The line is continuous from column to column.
            if let last {
                if extent.low > last.high { extent.low = last.high }
                if extent.high < last.low { extent.high = last.low }
            }
            last = own
            let top = Self.place(extent.high, height).rounded(.down)
            let bottom = Self.place(extent.low, height).rounded(.up)
            let first = min(Int(top), height - 1)
            return first..<max(first + 1, Int(bottom))
        }
    }

    /// The distance of a sample from the top of its lane, in rows.
    private static func place(_ sample: Float, _ height: Int) -> Double {
        (1 - Double(max(-1, min(1, sample)))) / 2 * Double(height)
    }

    private func extent(_ extents: [SampleExtent], _ column: Int) -> SampleExtent {
        guard bins.samples > 0 else { return SampleExtent(low: 0, high: 0) }
        let samples = Int(bins.samples)
        let first = column * samples / canvas.size.width
        let end = max(first + 1, (column + 1) * samples / canvas.size.width)
        let firstBin = first / bins.samplesPerBin
        let endBin = min(extents.count, (end + bins.samplesPerBin - 1) / bins.samplesPerBin)
        var extent = SampleExtent()
        for bin in min(firstBin, extents.count - 1)..<max(endBin, 1) { extent.add(extents[bin]) }
        return extent
    }

    var effective: [String: Setting] {
        ["colors": Setting(effective: "\(canvas.settings.foreground),\(canvas.settings.background)")]
    }
}
