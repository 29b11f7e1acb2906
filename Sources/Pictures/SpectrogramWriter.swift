import Bytes
import MediaTypes

/// Draws frequencies over time. In each lane the lowest frequency is at the bottom and half the sample rate at the top.
final class SpectrogramWriter: SoundDrawing {
    private let canvas: PictureCanvas
    private let lanes: [Lane]

    /// A box for a lane, because arrays cannot hold noncopyable values.
    private final class Lane {
        var spectra: SpectrumLane
        init(_ spectra: consuming SpectrumLane) { self.spectra = spectra }
    }

    init(_ canvas: PictureCanvas, lanes: Int) throws(MediaError) {
        self.canvas = canvas
        var made: [Lane] = []
        for lane in 0..<lanes {
            made.append(
                Lane(
                    try SpectrumLane.open(
                        rows: canvas.size.rows(ofLane: lane, of: lanes).count, columns: canvas.size.width,
                        dynamicRange: canvas.settings.dynamicRange)))
        }
        self.lanes = made
    }

    func append(_ lanes: [UnsafeBufferPointer<Float>]) throws(MediaError) {
        for index in lanes.indices { self.lanes[index].spectra.append(lanes[index]) }
    }

    func finish() throws(MediaError) {
        let pixels = try PixelFile(canvas, Self.palette)
        let width = canvas.size.width
        var line = [UInt8](repeating: 0, count: width)
        for lane in lanes {
            lane.spectra.finish()
            let (levels, rows, columns) = (lane.spectra.levels, lane.spectra.rows, lane.spectra.columns)
            for row in (0..<rows).reversed() {
                for x in 0..<width where columns > 0 {
                    let first = x * columns / width
                    let end = max(first + 1, (x + 1) * columns / width)
                    line[x] = (first..<end).reduce(0) { max($0, levels[$1 * rows + row]) }
                }
                try pixels.append(row: line)
            }
        }
        try pixels.finish()
    }

    /// The color map viridis, from dark violet over green to yellow with evenly increasing brightness, interpolated linearly
    /// between some of its points.
    private static let palette: [PictureColor] = (0..<256).map { index in
        let place = Double(index) / 255 * Double(points.count - 1)
        let point = min(Int(place), points.count - 2)
        let part = place - Double(point)
        let mixed = (0..<3).map { channel in
            UInt8((Double(points[point][channel]) * (1 - part) + Double(points[point + 1][channel]) * part).rounded())
        }
        return PictureColor(red: mixed[0], green: mixed[1], blue: mixed[2])
    }

    private static let points: [[UInt8]] = [
        [68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99],
        [170, 220, 50], [253, 231, 37],
    ]

    var effective: [String: Setting] {
        ["dynamic_range": Setting(effective: "\(canvas.settings.dynamicRange)")]
    }
}
