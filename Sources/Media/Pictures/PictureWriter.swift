import CLibav
import MediaTypes

/// An output that is not sound but what it looks like.
final class PictureWriter: RenditionWriter {
    private let settings: EncodingSettings
    private let picture: PictureSettings
    private let sound: SoundChain?
    private var converter: SampleConverter
    private let file: AppendedFile
    private let lanes: Int
    private let drawing: any SoundDrawing
    private var samples: Int64 = 0
    private var mean: [Float] = []

    init(
        _ store: any ByteStore, _ rendition: Rendition, _ reader: borrowing AssetReader,
        _ measurement: SoundMeasurement?
    ) throws(MediaError) {
        var floats = rendition
        floats.sampleFormat = .f32
        let settings = try EncodingSettings.resolve(floats, try rendition.sound.shape(of: reader.shape), reader.depth)
        sound = try SoundChain.open(rendition.sound, reader.shape, reader.depth, settings, measurement)
        var input = sound?.output ?? reader.shape
        if settings.relabels(input.layout) { input.layout = settings.shape.layout }
        let shape = SampleShape(
            format: AV_SAMPLE_FMT_FLTP, rate: settings.shape.rate, layout: settings.shape.layout)
        converter = try SampleConverter.open(input, to: shape, bits: nil)
        picture = rendition.picture
        lanes = picture.splitsChannels ?? (settings.format.name == "png") ? shape.channels : 1
        file = AppendedFile(store)
        self.settings = settings
        drawing =
            switch settings.format.name {
            case "peaks": try PeaksWriter(file, picture, lanes: lanes, rate: shape.rate)
            case "png": try WaveformWriter(file, picture, settings.pictureSize(picture), lanes: lanes)
            default: try SpectrogramWriter(file, picture, settings.pictureSize(picture), lanes: lanes)
            }
    }

    func append(_ frame: borrowing Frame) throws(MediaError) {
        guard let sound else { return try convert(frame) }
        try sound.append(frame) { (changed: borrowing Frame) throws(MediaError) in try convert(changed) }
    }

    private func convert(_ frame: borrowing Frame) throws(MediaError) {
        if try converter.convert(frame) { try draw(converter.result) } else { try draw(frame) }
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
        // Divided, not multiplied by the inverse: so the mean of equal samples is that sample.
        for index in 0..<count { mean[index] /= Float(channels) }
        var failure: MediaError?
        mean.withUnsafeBufferPointer { lane in
            do throws(MediaError) { try drawing.append([lane]) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    func finish() throws(MediaError) -> ConversionResult {
        try sound?.finish { (rest: borrowing Frame) throws(MediaError) in try convert(rest) }
        while try converter.drain() { try draw(converter.result) }
        try drawing.finish()
        try file.flush()
        var used = settings.used.merging(drawing.used) { $1 }
        used["codec"] = nil
        used["sample_format"] = nil
        var result = ConversionResult(
            settings, samples: samples, bytes: file.length, gapless: Gapless(start: 0, end: 0), sound: sound,
            used: used, warnings: settings.warnings)
        result.codec = settings.format.name == "peaks" ? "peaks" : "png"
        result.bitRate = 0
        return result
    }
}

/// Puts samples down in a form that is seen.
protocol SoundDrawing: AnyObject {
    /// Takes as many samples of each lane; there is at least one.
    func append(_ lanes: [UnsafeBufferPointer<Float>]) throws(MediaError)

    /// Writes what is still to be written.
    func finish() throws(MediaError)

    /// What was asked for and what is used, by the names in a job.
    var used: [String: Setting] { get }
}

extension EncodingSettings {
    fileprivate func pictureSize(_ picture: PictureSettings) -> PictureSize {
        picture.size ?? format.pictureSizes!.usual
    }
}

extension PictureSize {
    /// Rows of a lane, of which all have at least one.
    func rows(ofLane lane: Int, of lanes: Int) -> Range<Int> { lane * height / lanes..<(lane + 1) * height / lanes }

    /// Fails if there are more lanes than rows.
    func check(lanes: Int) throws(MediaError) {
        guard lanes <= height else {
            throw MediaError(
                .invalidSettings, "choose settings",
                "size is \(self), too low for \(lanes) channels; give more height, or split_channels false")
        }
    }
}
