import MediaTypes

// The fields for drawing audio.
extension FieldReader {
    func picture(_ format: AudioFormat) -> PictureSettings {
        for (name, pictures) in Self.pictureFields where fields[name] != nil {
            guard format.picture.map(pictures.contains) != true else { continue }
            let formats = AudioFormat.all.filter { $0.picture.map(pictures.contains) == true }.map(\.name)
            refuse(
                name,
                "`\(name)` requires the format \(formats.joined(separator: " and ")), and `format` is \(format.name)")
        }
        var picture = PictureSettings()
        picture.form = form()
        picture.bits = whole("bits") ?? picture.bits
        picture.zoom = zoom() ?? picture.zoom
        picture.splitsChannels = fields["split_channels"].map { $0 == "true" }
        picture.size = size(format)
        if let colors = fields["colors"].flatMap(Self.colors) {
            (picture.foreground, picture.background) = (colors[0], colors[1])
        }
        picture.dynamicRange = number("dynamic_range") ?? picture.dynamicRange
        return picture
    }

    /// Parses the colors of the foreground and of the background.
    static func colors(_ text: String) -> [PictureColor]? {
        let colors = text.split(separator: ",", omittingEmptySubsequences: false)
            .compactMap { PictureColor(parsing: String($0)) }
        return colors.count == 2 && text.count { $0 == "," } == 1 ? colors : nil
    }

    /// The fields of pictures, and the pictures that each is for.
    private static let pictureFields: [(name: String, pictures: [AudioFormat.Picture])] = [
        ("bits", [.peaks]), ("colors", [.waveform]), ("dynamic_range", [.spectrogram]), ("peaks_format", [.peaks]),
        ("pixels_per_second", [.peaks]), ("points", [.peaks]), ("size", [.waveform, .spectrogram]),
        ("split_channels", AudioFormat.Picture.allCases), ("zoom", [.peaks]),
    ]

    /// The format of peaks: the requested one, or the one of the output's file name.
    private func form() -> PictureSettings.PeaksForm {
        word("peaks_format") ?? (fields["output"]?.lowercased().hasSuffix(".dat") == true ? .dat : .json)
    }

    private func zoom() -> PictureSettings.Zoom? {
        let given: [(name: String, PictureSettings.Zoom)] = [
            whole("zoom").map { ("zoom", .samples($0)) },
            whole("pixels_per_second").map { ("pixels_per_second", .perSecond($0)) },
            whole("points").map { ("points", .points($0)) },
        ].compactMap(\.self)
        if given.count > 1 {
            refuse(given[0].name, "`zoom`, `pixels_per_second` and `points` are mutually exclusive: give one")
        }
        return given.first?.1
    }

    private func size(_ format: AudioFormat) -> PictureSize? {
        guard let text = fields["size"], let largest = format.pictureSizes?.largest else { return nil }
        guard let size = PictureSize(parsing: text), !size.isEmpty, size.fits(in: largest) else {
            refuse("size", mustBe: "width and height in pixels up to \(largest), such as 800x200")
            return nil
        }
        return size
    }
}
