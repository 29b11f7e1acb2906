import MediaTypes

// The fields for drawing audio.
extension FieldReader {
    func picture(_ format: AudioFormat) throws(Failure) -> PictureSettings {
        for (name, pictures) in Self.pictureFields where fields[name] != nil {
            guard let picture = format.picture, pictures.contains(picture) else {
                let formats = AudioFormat.all.filter { $0.picture.map(pictures.contains) == true }.map(\.name)
                throw Self.invalid(
                    "`\(name)` requires the format \(formats.joined(separator: " and ")), and `format` is \(format.name)"
                )
            }
        }
        var picture = PictureSettings()
        picture.form = try form()
        picture.bits = try whole("bits", 1...16) ?? picture.bits
        guard [8, 16].contains(picture.bits) else { throw wrong("bits", "8 or 16") }
        picture.zoom = try zoom() ?? picture.zoom
        if let text = fields["split_channels"] {
            guard let splits = Bool(text) else { throw wrong("split_channels", "true or false") }
            picture.splitsChannels = splits
        }
        picture.size = try size(format)
        if let text = fields["colors"] {
            let colors = text.split(separator: ",", omittingEmptySubsequences: false).map {
                PictureColor(parsing: String($0))
            }
            guard colors.count == 2, let foreground = colors[0], let background = colors[1] else {
                throw wrong("colors", "foreground and background, such as #3366cc,#ffffff or #3366ccff,#00000000")
            }
            (picture.foreground, picture.background) = (foreground, background)
        }
        if let text = fields["dynamic_range"] {
            guard let range = Double(text), PictureSettings.dynamicRanges.contains(range) else {
                throw wrong("dynamic_range", "decibels from 10 to 200")
            }
            picture.dynamicRange = range
        }
        return picture
    }

    /// The fields of pictures, and the pictures that each is for.
    private static let pictureFields: [(name: String, pictures: [AudioFormat.Picture])] = [
        ("bits", [.peaks]), ("colors", [.waveform]), ("dynamic_range", [.spectrogram]), ("peaks_format", [.peaks]),
        ("pixels_per_second", [.peaks]), ("points", [.peaks]), ("size", [.waveform, .spectrogram]),
        ("split_channels", AudioFormat.Picture.allCases), ("zoom", [.peaks]),
    ]

    /// The format of peaks: the requested one, or the one of the output's file name.
    private func form() throws(Failure) -> PictureSettings.PeaksForm {
        guard let text = fields["peaks_format"] else {
            return fields["output"]?.lowercased().hasSuffix(".dat") == true ? .dat : .json
        }
        guard let form = PictureSettings.PeaksForm(rawValue: text) else {
            throw wrong("peaks_format", oneOf: ["json", "dat"])
        }
        return form
    }

    private func zoom() throws(Failure) -> PictureSettings.Zoom? {
        let given: [PictureSettings.Zoom] = [
            try whole("zoom", PictureSettings.samplesPerPixel).map { .samples($0) },
            try whole("pixels_per_second", PictureSettings.pixelsPerSecond).map { .perSecond($0) },
            try whole("points", PictureSettings.points).map { .points($0) },
        ].compactMap(\.self)
        guard given.count <= 1 else {
            throw Self.invalid("`zoom`, `pixels_per_second` and `points` are mutually exclusive: give one")
        }
        return given.first
    }

    private func size(_ format: AudioFormat) throws(Failure) -> PictureSize? {
        guard let text = fields["size"], let largest = format.pictureSizes?.largest else { return nil }
        guard let size = PictureSize(parsing: text), !size.isEmpty, size.fits(in: largest) else {
            throw wrong("size", "width and height in pixels up to \(largest), such as 800x200")
        }
        return size
    }
}
