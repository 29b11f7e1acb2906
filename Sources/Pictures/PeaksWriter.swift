import Bytes
import Encoding
import MediaTypes

/// Writes the lowest and the highest sample of each bin in audiowaveform's `.dat` or `.json` format, both of version 2.
final class PeaksWriter: SoundDrawing {
    private let file: AppendedFile
    private let settings: PictureSettings
    private var bins: PeakBins
    private var points = 0
    private var isFirst = true
    private let rate: Int
    /// The maximum number of points, which are written last, because the length of each follows from the audio's.
    private var maxPoints: Int?
    /// The offset of the number of points, which is written last.
    private var lengthOffset: Int64 = 0
    private static let lengthDigits = 10

    init(_ file: AppendedFile, _ settings: PictureSettings, lanes: Int, rate: Int) throws(MediaError) {
        self.file = file
        self.settings = settings
        self.rate = rate
        let zoom: Int
        switch settings.zoom {
        case .samples(let count): zoom = count
        case .perSecond(let count):
            zoom = rate / count
            guard zoom > 0 else {
                throw MediaError(
                    .invalidSettings, "choose settings",
                    "pixels_per_second is \(count), over the sample rate of \(rate) Hz; give at most \(rate)")
            }
        case .points(let count):
            maxPoints = count
            bins = PeakBins(lanes: lanes, samplesPerBin: 1, capacity: count * Self.binsPerPoint)
            return
        }
        bins = PeakBins(lanes: lanes, samplesPerBin: zoom)
        try writeHead()
    }

    /// How many bins are kept for each point at most, so that few points are lost when they are joined.
    private static let binsPerPoint = 8

    private func writeHead() throws(MediaError) {
        let (zoom, lanes) = (bins.samplesPerBin, bins.lanes.count)
        switch settings.form {
        case .dat:
            let flags = settings.bits == 8 ? 1 : 0
            let head = [2, flags, rate, zoom, 0, lanes].flatMap { Self.bytes(Int32(clamping: $0)) }
            lengthOffset = 16
            try file.append(head)
        case .json:
            let head =
                #"{"version":2,"channels":\#(lanes),"sample_rate":\#(rate),"samples_per_pixel":\#(zoom),"#
                + #""bits":\#(settings.bits),"length":"#
            lengthOffset = Int64(head.utf8.count)
            try file.append((head + String(repeating: " ", count: Self.lengthDigits) + #","data":["#).utf8)
        }
    }

    private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    func append(_ lanes: [UnsafeBufferPointer<Float>]) throws(MediaError) {
        bins.append(lanes)
        if maxPoints == nil { try write() }
    }

    private func write() throws(MediaError) {
        for point in bins.lanes[0].indices {
            for lane in bins.lanes {
                try write(lane[point].low)
                try write(lane[point].high)
            }
            points += 1
        }
        bins.removeAll()
    }

    private func write(_ sample: Float) throws(MediaError) {
        let value = value(sample)
        switch settings.form {
        case .dat: try file.append(settings.bits == 8 ? [UInt8(bitPattern: Int8(value))] : Self.bytes(Int16(value)))
        case .json:
            try file.append("\(isFirst ? "" : ",")\(value)".utf8)
            isFirst = false
        }
    }

    /// The sample as an integer, truncated towards zero as in audiowaveform.
    private func value(_ sample: Float) -> Int {
        let value = Int(max(-32_768, min(32_767, sample * 32_768)))
        return settings.bits == 8 ? value / 256 : value
    }

    func finish() throws(MediaError) {
        bins.close()
        if let maxPoints {
            bins.join(to: maxPoints)
            try writeHead()
        }
        try write()
        switch settings.form {
        case .dat: try file.replace(at: lengthOffset, Self.bytes(UInt32(clamping: points)))
        case .json:
            try file.append("]}\n".utf8)
            let digits = String(points)
            let blank = String(repeating: " ", count: max(0, Self.lengthDigits - digits.count))
            try file.replace(at: lengthOffset, Array((blank + digits).utf8))
        }
    }

    var effective: [String: Setting] {
        [
            "peaks_format": Setting(effective: settings.form.rawValue),
            "bits": Setting(effective: String(settings.bits)),
            "zoom": Setting(effective: String(bins.samplesPerBin)),
        ]
    }
}
