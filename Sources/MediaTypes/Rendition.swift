/// The requested format and settings of an output. Open settings follow the source.
package struct Rendition: Codable, Sendable, Hashable {
    /// The name of an `AudioFormat`.
    package var format: String
    /// The name of an `AudioCodec` that the format supports; `nil` for its default.
    package var codec: String?
    /// Bits a second, over all channels.
    package var bitRate: Int?
    /// The VBR quality on the codec's scale.
    package var quality: Double?
    /// Samples a second.
    package var sampleRate: Int?
    /// The channel count; `nil` for the source's, or for that of `channelLayout`.
    package var channels: Int?
    /// The name of a layout, such as `5.1`, which also fixes the channel count.
    package var channelLayout: String?
    /// The format of stored samples in PCM and lossless codecs; `nil` for the source's depth.
    package var sampleFormat: SampleFormat?
    /// Encoder settings that only some codecs have.
    package var encoder = EncoderSettings()
    /// Changes of the sound before it is encoded, such as gain and resampling.
    package var sound = SoundSettings()
    /// Changes of the source's tags, pictures and chapters.
    package var tags = TagSettings()
    /// Whether packets may or must be copied instead of encoded.
    package var passthrough = Passthrough.never
    /// For segmented formats.
    package var segments = SegmentSettings()
    /// For pictures and peaks.
    package var picture = PictureSettings()

    package init(
        format: String, codec: String? = nil, bitRate: Int? = nil, quality: Double? = nil, sampleRate: Int? = nil,
        channels: Int? = nil, channelLayout: String? = nil, sampleFormat: SampleFormat? = nil
    ) {
        self.format = format
        self.codec = codec
        self.bitRate = bitRate
        self.quality = quality
        self.sampleRate = sampleRate
        self.channels = channels
        self.channelLayout = channelLayout
        self.sampleFormat = sampleFormat
    }

    enum CodingKeys: String, CodingKey {
        case format, codec, quality, channels, encoder, sound, tags, passthrough, segments, picture
        case bitRate = "bit_rate"
        case sampleRate = "sample_rate"
        case channelLayout = "channel_layout"
        case sampleFormat = "sample_format"
    }

    /// The channel count that the job requests, by number or by layout.
    package var requestedChannels: Int? { channelLayout.flatMap { ChannelLayoutName.channels(of: $0) } ?? channels }
}

extension Rendition {
    /// Validates every setting. Returns the format and the codec.
    @discardableResult
    package func validate() throws(FormatProblem) -> (format: AudioFormat, codec: AudioCodec) {
        let (format, codec) = try formatAndCodec()
        if let problem = problems(format, codec).first { throw problem }
        return (format, codec)
    }

    /// What is not supported, at most one problem a check.
    package var problems: [FormatProblem] {
        do throws(FormatProblem) {
            let (format, codec) = try formatAndCodec()
            return problems(format, codec)
        } catch {
            return [error]
        }
    }

    private func problems(_ format: AudioFormat, _ codec: AudioCodec) -> [FormatProblem] {
        let checks: [(AudioFormat, AudioCodec) throws(FormatProblem) -> Void] = [
            checkSampleRate, checkChannels, checkLayout, checkRateControl, checkCopy, checkCompressionLevel,
            checkBitRateMode, checkApplication, checkFrameDuration, checkSampleFormat, checkDither, checkSegments,
            checkPicture,
        ]
        var problems: [FormatProblem] = []
        for check in checks {
            do throws(FormatProblem) { try check(format, codec) } catch { problems.append(error) }
        }
        return problems
    }

    private func formatAndCodec() throws(FormatProblem) -> (AudioFormat, AudioCodec) {
        guard let format = AudioFormat.named(format) else {
            if let hint = AudioFormat.holding(codec: format) {
                throw FormatProblem("format", "there is no format '\(format)', \(hint)")
            }
            let names = AudioFormat.all.map(\.name)
            throw FormatProblem(
                "format",
                "there is no format '\(format)'\(Spelling.hint(for: format, among: names)); the formats are \(names.listed)"
            )
        }
        let name = codec ?? format.codecs[0]
        guard format.codecs.contains(name), let codec = AudioCodec.named(name) else {
            throw FormatProblem(
                "codec",
                "format \(format.name) does not support codec '\(name)'\(Spelling.hint(for: name, among: format.codecs)); "
                    + "it supports \(format.codecs.listed)")
        }
        return (format, codec)
    }

    private func checkSegments(_ format: AudioFormat, _ codec: AudioCodec) throws(FormatProblem) {
        guard format.isSegmented else { return }
        let container = segments.container
        guard container.codecs.contains(codec.name) else {
            throw FormatProblem(
                "codec",
                "segments of \(container.rawValue) do not support codec '\(codec.name)'; they support "
                    + format.codecs.filter(container.codecs.contains).listed)
        }
        guard SegmentSettings.durations.contains(segments.duration) else {
            throw FormatProblem(
                "segment_duration", "segment_duration is \(segments.duration.seconds); it must be 1 to 60 seconds")
        }
        try checkVariants(format, codec)
    }

    private func checkVariants(_ format: AudioFormat, _ codec: AudioCodec) throws(FormatProblem) {
        let rates = segments.bitRates
        guard !rates.isEmpty else { return }
        guard bitRate == nil, quality == nil else {
            throw FormatProblem(
                "bit_rates",
                "bit_rates and bit_rate or quality are mutually exclusive; give bit_rates alone, or leave it out")
        }
        guard rates.count <= 10, Set(rates).count == rates.count else {
            throw FormatProblem("bit_rates", "bit_rates supports up to 10 different bit rates")
        }
        for rate in rates {
            var variant = self
            variant.bitRate = rate
            try variant.checkRateControl(format, codec)
        }
    }

    private func checkSampleRate(_ format: AudioFormat, _ codec: AudioCodec) throws(FormatProblem) {
        guard let sampleRate, !format.takes(sampleRate: sampleRate, of: codec) else { return }
        let right =
            format.sampleRates(of: codec).map { $0.map(String.init).listed }
            ?? "\(codec.lowestSampleRate) to \(codec.highestSampleRate)"
        let rule =
            sampleRate > codec.highestSampleRate
            ? "" : codec.tensOfHertzFrom.map { ", from \($0) only multiples of 10" } ?? ""
        let place = format.sampleRates(of: codec) == codec.sampleRates ? "" : " in \(format.name)"
        throw FormatProblem(
            "sample_rate",
            "\(codec.name)\(place) does not support sample_rate \(sampleRate); it supports \(right) Hz\(rule)")
    }

    private func checkChannels(_ format: AudioFormat, _ codec: AudioCodec) throws(FormatProblem) {
        let counts = format.channelCounts(of: codec)
        guard let channels, !counts.contains(channels) else { return }
        let right = counts.count == counts.last ? "1 to \(counts.count)" : counts.map(String.init).listed
        let place = counts == codec.channelCounts ? "" : " in \(format.name)"
        throw FormatProblem(
            "channels", "\(codec.name)\(place) does not support \(channels) channels; it supports \(right)")
    }

    private func checkLayout(_ format: AudioFormat, _ codec: AudioCodec) throws(FormatProblem) {
        guard let channelLayout else { return }
        guard let count = ChannelLayoutName.channels(of: channelLayout) else {
            throw FormatProblem(
                "channel_layout",
                "there is no channel_layout '\(channelLayout)'\(Spelling.hint(for: channelLayout, among: ChannelLayoutName.all)); "
                    + "the layouts are \(ChannelLayoutName.all.listed)")
        }
        guard channels == nil || channels == count else {
            throw FormatProblem(
                "channel_layout", "channel_layout \(channelLayout) has \(count) channels, and channels is \(channels!)")
        }
        let counts = format.channelCounts(of: codec)
        let layouts = format.layouts(of: codec)
        guard counts.contains(count), layouts?.contains(channelLayout) != false else {
            let right = (layouts ?? ChannelLayoutName.all).filter {
                counts.contains(ChannelLayoutName.channels(of: $0)!)
            }
            let place = layouts == codec.layouts ? "" : " in \(format.name)"
            throw FormatProblem(
                "channel_layout",
                "\(codec.name)\(place) does not support channel_layout \(channelLayout); it supports \(right.listed)")
        }
    }

    private func checkRateControl(_ format: AudioFormat, _ codec: AudioCodec) throws(FormatProblem) {
        if let quality {
            guard bitRate == nil else {
                throw FormatProblem("quality", "bit_rate and quality are mutually exclusive; give one")
            }
            guard let qualities = codec.qualities else {
                throw FormatProblem("quality", "\(codec.name) has no quality scale; leave quality out")
            }
            guard qualities.contains(quality) else {
                throw FormatProblem(
                    "quality",
                    "\(codec.name) does not support quality \(quality); it supports \(qualities.lowerBound) to \(qualities.upperBound)"
                )
            }
        }
        guard let bitRate else { return }
        guard codec.bitRates != nil else {
            let why = codec.kind == .lossy ? "has a single bit rate" : "is lossless"
            throw FormatProblem("bit_rate", "\(codec.name) \(why) and does not support bit_rate; leave bit_rate out")
        }
        let right = codec.bitRates(sampleRate: sampleRate, channels: requestedChannels)!
        guard right != .steps([]) else {
            throw FormatProblem("bit_rate", "\(described(codec)) does not support bit_rate; give quality instead")
        }
        guard right.contains(bitRate) else {
            throw FormatProblem(
                "bit_rate", "\(described(codec)) does not support bit_rate \(bitRate); it supports \(right)")
        }
    }

    private func described(_ codec: AudioCodec) -> String {
        let rate = sampleRate.map { " at \($0) Hz" } ?? ""
        let count = requestedChannels.map { $0 == 1 ? " with 1 channel" : " with \($0) channels" } ?? ""
        return codec.name + rate + count
    }

    private func checkSampleFormat(_ format: AudioFormat, _ codec: AudioCodec) throws(FormatProblem) {
        guard let sampleFormat else { return }
        let right = codec.kind == .pcm ? format.pcmFormats : codec.sampleFormats
        guard !right.isEmpty else {
            throw FormatProblem(
                "sample_format", "\(codec.name) has a fixed sample format; leave sample_format out")
        }
        guard right.contains(sampleFormat) else {
            let holder = codec.kind == .pcm ? format.name : codec.name
            throw FormatProblem(
                "sample_format",
                "\(holder) does not support sample_format \(sampleFormat.rawValue); it supports \(right.map(\.rawValue).listed)"
            )
        }
    }
}

/// A setting of a rendition that is not supported.
package struct FormatProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field's name in a job.
    package let field: String
    /// One sentence with the value and the supported ones.
    package let description: String

    package init(_ field: String, _ description: String) {
        self.field = field
        self.description = description
    }
}

extension [String] {
    /// The elements, separated by commas.
    fileprivate var listed: String { joined(separator: ", ") }
}
