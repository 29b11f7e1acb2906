package import Bytes
import CLibav
package import Decoding
package import Encoding
package import Filters
package import Libav
package import MediaTypes

/// Writes an output that is a picture or peaks of the audio instead of the audio itself.
package final class PictureWriter: RenditionWriter {
    private let settings: EncodingSettings
    private let kind: AudioFormat.Picture
    private let picture: PictureSettings
    private let path: SoundPath
    private let file: AppendedFile
    /// Whether each channel has a separate lane.
    private let splitsChannels: Bool
    private let lanes: Int
    /// `nil` if the format has no size.
    private let size: PictureSize?
    private let drawing: any SoundDrawing
    private var samples: Int64 = 0
    private var mean: [Float] = []

    /// Opens the output and chooses the scale of the picture.
    package init(
        _ store: any RandomAccessOutput, _ kind: AudioFormat.Picture, _ rendition: Rendition,
        _ reader: borrowing AssetReader, _ measurement: SoundMeasurement?
    ) throws(MediaError) {
        var floats = rendition
        floats.sampleFormat = .f32
        let settings = try EncodingSettings.resolve(floats, try rendition.sound.shape(of: reader.shape), reader.depth)
        path = try SoundPath(
            rendition.sound, reader.shape, reader.depth, settings, as: AV_SAMPLE_FMT_FLTP, measurement)
        let picture = rendition.picture
        let splitsChannels = picture.splitsChannels ?? (kind == .waveform)
        let lanes = splitsChannels ? settings.shape.channels : 1
        let size = settings.format.pictureSizes.map { picture.size ?? $0.usual }
        try size?.check(lanes: lanes)
        file = AppendedFile(store)
        drawing =
            switch kind {
            case .peaks: try PeaksWriter(file, picture, lanes: lanes, rate: settings.shape.rate)
            case .waveform: WaveformWriter(PictureCanvas(file: file, settings: picture, size: size!), lanes: lanes)
            case .spectrogram:
                try SpectrogramWriter(PictureCanvas(file: file, settings: picture, size: size!), lanes: lanes)
            }
        self.kind = kind
        (self.settings, self.picture, self.splitsChannels) = (settings, picture, splitsChannels)
        (self.lanes, self.size) = (lanes, size)
    }

    /// Filters decoded samples, and adds them to the picture.
    package func append(_ frame: borrowing Frame) throws(MediaError) {
        try path.append(frame) { (changed: borrowing Frame) throws(MediaError) in try draw(changed) }
    }

    private func draw(_ frame: borrowing Frame) throws(MediaError) {
        let (count, channels) = (frame.samples, settings.shape.channels)
        guard count > 0 else { return }
        samples += Int64(count)
        guard lanes == 1, channels > 1 else {
            return try drawing.append(
                (0..<channels).map { UnsafeBufferPointer(start: frame.floats($0), count: count) })
        }
        mean.removeAll(keepingCapacity: true)
        mean.append(contentsOf: UnsafeBufferPointer(start: frame.floats(0), count: count))
        for channel in 1..<channels {
            let plane = frame.floats(channel)
            for index in 0..<count { mean[index] += plane[index] }
        }
        // Division instead of multiplication by the inverse: the mean of equal samples is exactly that sample.
        for index in 0..<count { mean[index] /= Float(channels) }
        var failure: MediaError?
        mean.withUnsafeBufferPointer { lane in
            do throws(MediaError) { try drawing.append([lane]) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Draws the remaining samples, and writes the picture.
    package func finish() throws(MediaError) -> ConversionResult {
        try path.finish { (rest: borrowing Frame) throws(MediaError) in try draw(rest) }
        try drawing.finish()
        try file.flush()
        var effective = settings.effective.merging(drawing.effective) { $1 }.merging(path.effective) { $1 }
        effective["codec"] = nil
        effective["sample_format"] = nil
        effective["split_channels"] = Setting(
            requested: picture.splitsChannels.map { String($0) }, effective: String(splitsChannels))
        if let size { effective["size"] = Setting(requested: picture.size?.description, effective: size.description) }
        var result = ConversionResult(
            settings, samples: samples, bytes: file.length, gapless: Gapless(start: 0, end: 0),
            loudness: path.loudness, effective: effective, warnings: settings.warnings + path.warnings)
        result.codec = kind.codecName
        result.bitRate = 0
        return result
    }
}

/// Draws samples or writes them as peaks.
protocol SoundDrawing: AnyObject {
    /// Takes the same number of samples of each lane. There is at least one lane.
    func append(_ lanes: [UnsafeBufferPointer<Float>]) throws(MediaError)

    /// Writes the remaining data.
    func finish() throws(MediaError)

    /// The requested and the effective settings, by job field name.
    var effective: [String: Setting] { get }
}

/// The file, the settings and the size of a picture.
struct PictureCanvas {
    let file: AppendedFile
    let settings: PictureSettings
    let size: PictureSize
}

extension PictureSize {
    /// The rows of a lane. Each lane has at least one.
    func rows(ofLane lane: Int, of lanes: Int) -> Range<Int> { lane * height / lanes..<(lane + 1) * height / lanes }

    /// Throws if there are more lanes than rows.
    func check(lanes: Int) throws(MediaError) {
        guard lanes <= height else {
            throw MediaError(
                .invalidSettings, "choose settings",
                "size is \(self), too low for \(lanes) channels; increase the height, or set split_channels to false")
        }
    }
}
