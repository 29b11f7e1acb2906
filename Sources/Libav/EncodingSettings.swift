package import Bytes
import CLibav
package import MediaTypes

/// A rendition with all settings resolved for one source, as passed to the encoder and the muxer.
package struct EncodingSettings {
    /// The format of the file.
    package let format: AudioFormat
    /// The codec of the file.
    package let codec: AudioCodec
    /// The shape of the encoder's input.
    package let shape: SampleShape
    /// The stored sample format, for PCM and lossless codecs.
    package let sampleFormat: SampleFormat?
    /// Bits a second, for a codec with a constant or average bit rate.
    package let bitRate: Int?
    /// The VBR quality on the codec's scale, instead of a bit rate.
    package let quality: Double?
    /// The requested settings of the encoder, validated.
    package let encoder: EncoderSettings
    /// The requested dither of samples that lose bits.
    package let dither: DitherMethod?
    /// The requested and the effective settings, by job field name.
    package private(set) var effective: [String: Setting] = [:]
    /// Differences between the output and the source or the requested settings.
    package private(set) var warnings: [Warning]
    /// The expected length of the source's range in seconds, if it is known.
    package let expectedSeconds: Double?

    /// Resolves open settings to the source's values, or to the nearest ones that the codec supports. `expected` is the length of
    /// the source's range in seconds, if it is known.
    package static func resolve(
        _ rendition: Rendition, _ inputShape: SampleShape, _ depth: SampleDepth, expected: Double? = nil
    ) throws(MediaError) -> EncodingSettings {
        let (format, codec): (AudioFormat, AudioCodec)
        do { (format, codec) = try rendition.validate() } catch { throw invalid(error.description) }
        var warnings: [Warning] = []
        let channels =
            rendition.requestedChannels ?? format.channelCounts(of: codec).last { $0 <= inputShape.channels }!
        if channels < inputShape.channels && rendition.requestedChannels == nil {
            warnings.append(
                Warning(
                    .channelsMixed,
                    "\(codec.name) supports \(channels) channels here, so the source's \(inputShape.channels) are mixed down"
                )
            )
        }
        let rate = try sampleRate(rendition, format, codec, inputShape.rate, channels)
        var resolved = rendition
        resolved.sampleRate = rate
        do { try resolved.checkDither(format, codec) } catch { throw invalid(error.description) }
        // A higher rate loses nothing. That Opus is always 48 kHz is reported in the settings.
        if rate < inputShape.rate && rendition.sampleRate == nil {
            warnings.append(
                Warning(
                    .sampleRateChanged,
                    "\(codec.name) supports at most \(rate) Hz here, so the source's \(inputShape.rate) Hz are resampled"
                ))
        }
        let layout =
            rendition.channelLayout.map { ChannelLayout(named: $0) }
            ?? layout(codec, format, channels, inputShape.layout, &warnings)
        let stored = storedFormat(rendition, codec, depth, &warnings)
        let unchanged = rate == inputShape.rate && layout.count == inputShape.channels
        let shape = SampleShape(format: codec.input(stored, inputShape.format, unchanged), rate: rate, layout: layout)
        let bitRate = try bitRate(rendition, codec, rate, channels)
        do { try rendition.checkShortPackets(bitRate: bitRate, channels: channels) } catch {
            throw invalid(error.description)
        }
        let quality = rendition.quality ?? (rendition.bitRate == nil ? codec.defaultQuality : nil)
        var settings = EncodingSettings(
            format: format, codec: codec, shape: shape, sampleFormat: stored, bitRate: bitRate, quality: quality,
            encoder: rendition.encoder, dither: rendition.sound.dither, warnings: warnings, expectedSeconds: expected)
        settings.record(rendition)
        return settings
    }

    private static func invalid(_ sentence: String) -> MediaError {
        MediaError(.invalidSettings, "choose settings", sentence)
    }

    private static func sampleRate(
        _ rendition: Rendition, _ format: AudioFormat, _ codec: AudioCodec, _ inputRate: Int, _ channels: Int
    ) throws(MediaError) -> Int {
        if let rate = rendition.sampleRate { return rate }
        guard let rates = format.sampleRates(of: codec) else { return codec.nearestRate(inputRate) }
        let right = rates.filter { rate in
            rendition.bitRate.map { codec.bitRates(sampleRate: rate, channels: channels)!.contains($0) } ?? true
        }
        guard let rate = right.filter({ $0 >= inputRate }).min() ?? right.max() else {
            throw invalid(
                "\(codec.name) with \(channels) channels does not support bit_rate \(rendition.bitRate!) at any sample rate"
            )
        }
        return rate
    }

    private static func bitRate(
        _ rendition: Rendition, _ codec: AudioCodec, _ rate: Int, _ channels: Int
    ) throws(MediaError) -> Int? {
        guard let right = codec.bitRates(sampleRate: rate, channels: channels), rendition.quality == nil else {
            return nil
        }
        guard let wish = rendition.bitRate else {
            return codec.defaultQuality == nil
                ? right.nearest(codec.defaultBitRate(rate: rate, channels: channels)) : nil
        }
        guard right.contains(wish) else {
            throw invalid(
                "\(codec.name) at \(rate) Hz with \(channels) channels does not support bit_rate \(wish); it supports \(right)"
            )
        }
        return wish
    }

    private static func storedFormat(
        _ rendition: Rendition, _ codec: AudioCodec, _ depth: SampleDepth, _ warnings: inout [Warning]
    ) -> SampleFormat? {
        guard codec.kind != .lossy else { return nil }
        if let wish = rendition.sampleFormat { return wish }
        let natural = depth.sampleFormat
        guard codec.kind == .lossless, !codec.sampleFormats.contains(natural) else { return natural }
        let widest = codec.sampleFormats.last!
        let limit = widest.isFloat ? "does not store samples of 64 bits" : "at most \(widest.bits) bits"
        warnings.append(
            Warning(
                .depthReduced,
                "\(codec.name) stores \(limit), so the source's \(natural.rawValue) samples were rounded"))
        return widest
    }

    /// How the encoder spends its bits over time; `nil` if its bit rate cannot be chosen.
    package var bitRateMode: BitRateMode? { codec.bitRateMode(encoder.bitRateMode, withQuality: quality != nil) }

    private mutating func record(_ rendition: Rendition) {
        effective["codec"] = Setting(requested: rendition.codec, effective: codec.name)
        effective["sample_rate"] = Setting(
            requested: rendition.sampleRate.map { String($0) }, effective: String(shape.rate))
        effective["channels"] = Setting(
            requested: rendition.channels.map { String($0) }, effective: String(shape.channels))
        effective["channel_layout"] = Setting(requested: rendition.channelLayout, effective: shape.layout.description)
        if let sampleFormat {
            effective["sample_format"] = Setting(
                requested: rendition.sampleFormat?.rawValue, effective: sampleFormat.rawValue)
        }
        if let bitRate {
            effective["bit_rate"] = Setting(requested: rendition.bitRate.map { String($0) }, effective: String(bitRate))
        }
        if let quality {
            effective["quality"] = Setting(requested: rendition.quality.map { String($0) }, effective: String(quality))
        }
        if let bitRateMode {
            effective["bit_rate_mode"] = Setting(effective: bitRateMode.rawValue)
        }
        if let application = encoder.effectiveApplication {
            effective["application"] = Setting(effective: application.rawValue)
        }
        for (name, value) in encoder.requested { effective[name] = Setting(requested: value, effective: value) }
    }
}

extension EncodingSettings {
    /// The layout that the codec stores for a number of channels.
    private static func layout(
        _ codec: AudioCodec, _ format: AudioFormat, _ channels: Int, _ inputLayout: ChannelLayout,
        _ warnings: inout [Warning]
    ) -> ChannelLayout {
        guard let all = format.layouts(of: codec) else {
            return channels == inputLayout.count ? inputLayout : ChannelLayout(defaultFor: channels)
        }
        let names = all.filter { ChannelLayoutName.channels(of: $0) == channels }
        guard channels == inputLayout.count else { return ChannelLayout(named: names[0]) }
        let name = inputLayout.description
        if let kept = names.first(where: { $0 == name }) ?? names.first(where: { isTwin($0, name) }) {
            return ChannelLayout(named: kept)
        }
        let how = codec.kind == .lossless ? "the channels are kept and written as" : "they are mixed to"
        warnings.append(
            Warning(
                .layoutChanged,
                "\(codec.name) has no layout \(inputLayout) for \(channels) channels, so \(how) \(names[0])"))
        return ChannelLayout(named: names[0])
    }

    /// Whether two layouts differ only in surround channels at the side in one and at the back in the other.
    private static func isTwin(_ left: String, _ right: String) -> Bool {
        left.replacing("(side)", with: "") == right.replacing("(side)", with: "")
    }

    /// Whether the channels pass unchanged, and only the name of their layout changes.
    package func relabels(_ inputLayout: ChannelLayout) -> Bool {
        shape.channels == inputLayout.count
            && (codec.kind == .lossless || Self.isTwin(shape.layout.description, inputLayout.description))
    }
}
