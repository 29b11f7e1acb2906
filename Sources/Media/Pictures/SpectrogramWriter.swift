import MediaTypes

/// A picture of frequencies over time: the lowest at the bottom of each lane, half the sample rate at its top.
final class SpectrogramWriter: SoundDrawing {
    private let file: AppendedFile
    private let settings: PictureSettings
    private let size: PictureSize
    private let lanes: [Lane]

    /// A lane in a box, as arrays hold no lanes themselves.
    private final class Lane {
        var spectra: SpectrumLane
        init(_ spectra: consuming SpectrumLane) { self.spectra = spectra }
    }

    init(
        _ file: AppendedFile, _ settings: PictureSettings, _ size: PictureSize, lanes: Int
    ) throws(MediaError) {
        self.file = file
        self.settings = settings
        self.size = size
        var made: [Lane] = []
        for lane in 0..<lanes {
            made.append(
                Lane(
                    try SpectrumLane.open(
                        rows: size.rows(ofLane: lane, of: lanes).count, columns: size.width,
                        dynamicRange: settings.dynamicRange)))
        }
        self.lanes = made
    }

    func append(_ lanes: [UnsafeBufferPointer<Float>]) throws(MediaError) {
        for index in lanes.indices { self.lanes[index].spectra.append(lanes[index]) }
    }

    func finish() throws(MediaError) {
        let pixels = try PixelFile(file, size, Self.palette)
        var line = [UInt8](repeating: 0, count: size.width)
        for lane in lanes {
            lane.spectra.finish()
            let (levels, rows, columns) = (lane.spectra.levels, lane.spectra.rows, lane.spectra.columns)
            for row in (0..<rows).reversed() {
                for x in 0..<size.width where columns > 0 {
                    let first = x * columns / size.width
                    let end = max(first + 1, (x + 1) * columns / size.width)
                    line[x] = (first..<end).reduce(0) { max($0, levels[$1 * rows + row]) }
                }
                try pixels.append(row: line)
            }
        }
        try pixels.finish()
    }

    /// From dark violet over green to yellow, evenly brighter: points of the map viridis, with straight lines between.
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

    var used: [String: Setting] {
        [
            "dynamic_range": Setting(used: "\(settings.dynamicRange)")
        ]
    }
}
