import FoundationEssentials
import JobSchema
import MediaTypes
import Slots

extension Command {
    static let formats = Command(
        "formats", usages: ["[FORMAT…]"], "lists the formats, their codecs and the settings these support",
        options: [.json],
        examples: [.init(line: "respool formats mp3 m4a", meaning: "lists two formats and their codecs")],
        operands: 0...Int.max, operandSuggestion: .words(AudioFormat.all.map(\.name))
    ) { arguments throws(CommandFailure) in
        let formats = try FormatList.formats(arguments.operands)
        var lines =
            arguments.has(.json) ? formats.map { JSONLine.text($0.entry) } : FormatList(formats: formats).lines()
        if !arguments.has(.json), arguments.operands.isEmpty, let names = await UndecodedVariants.list(), !names.isEmpty
        {
            lines += [
                "", "Sources that FFmpeg's libraries on this machine cannot decode: " + names.joined(separator: ", "),
            ]
        }
        StandardStream.output(lines.map { $0 + "\n" }.joined())
        return .success
    }
}

/// The human-readable tables of formats and codecs.
private struct FormatList {
    let formats: [AudioFormat]

    /// The formats with these names, or all formats.
    static func formats(_ names: [String]) throws(CommandFailure) -> [AudioFormat] {
        guard !names.isEmpty else { return AudioFormat.all }
        var formats: [AudioFormat] = []
        for name in names {
            guard let format = AudioFormat.named(name) else {
                let hint =
                    AudioFormat.holding(codec: name).map { ", \($0)" }
                    ?? Spelling.hint(for: name, among: AudioFormat.all.map(\.name), quote: "")
                throw .usage("there is no format '\(name)'\(hint); see `respool formats`")
            }
            formats.append(format)
        }
        return formats
    }

    func lines() -> [String] {
        let terminal = Terminal.output
        var table = Table(["FORMAT": .left, "FILE": .left, "CODECS": .left, "SAMPLES": .left, "WHAT": .left])
        for format in formats {
            table.append([
                .init(format.name, .bold), .init("." + format.fileExtension),
                .init(format.codecs.joined(separator: " ")), .init(Self.samples(format)), .init(format.summary),
            ])
        }
        var codecs = Table([
            "CODEC": .left, "KIND": .left, "CHANNELS": .right, "HZ": .left, "BIT RATE": .left, "QUALITY": .left,
        ])
        for codec in AudioCodec.all where formats.contains(where: { $0.codecs.contains(codec.name) }) {
            codecs.append([
                .init(codec.name, .bold), .init(codec.kind.rawValue), .init("1-\(codec.maxChannels)"),
                .init(Self.rates(codec)), .init(Self.bitRates(codec)), .init(Self.qualities(codec)),
            ])
        }
        return table.lines(for: terminal) + [""] + codecs.lines(for: terminal)
    }

    private static func samples(_ format: AudioFormat) -> String {
        format.pcmFormats.isEmpty
            ? "-" : format.pcmFormats.filter { $0.byteOrder == nil }.map(\.rawValue).joined(separator: " ")
    }

    private static func rates(_ codec: AudioCodec) -> String {
        codec.sampleRates.map { $0.map(String.init).joined(separator: " ") }
            ?? "\(codec.lowestSampleRate)-\(codec.highestSampleRate)"
    }

    private static func bitRates(_ codec: AudioCodec) -> String {
        codec.bitRates.map { "\(thousands($0.lowerBound))-\(thousands($0.upperBound))" } ?? "-"
    }

    private static func thousands(_ bitRate: Int) -> String {
        bitRate.isMultiple(of: 1000) ? "\(bitRate / 1000)k" : String(bitRate)
    }

    private static func qualities(_ codec: AudioCodec) -> String {
        codec.qualities.map { "\(number($0.lowerBound)) to \(number($0.upperBound))" } ?? "-"
    }

    private static func number(_ value: Double) -> String {
        Formatting.decimal(value, places: value == value.rounded() ? 0 : 1)
    }
}

/// The JSON entry of a format.
private struct FormatEntry: Encodable {
    let format: String
    let `extension`: String
    let mediaType: String
    let summary: String
    let codecs: [CodecEntry]
    let lowestHighPass = SoundSettings.cutoffs.lowerBound
    let highestHighPass = SoundSettings.cutoffs.upperBound
    let lowestTempo = Tempo.factors.lowerBound
    let highestTempo = Tempo.factors.upperBound

    enum CodingKeys: String, CodingKey {
        case format, `extension`, summary, codecs
        case mediaType = "media_type"
        case lowestHighPass = "lowest_high_pass"
        case highestHighPass = "highest_high_pass"
        case lowestTempo = "lowest_tempo"
        case highestTempo = "highest_tempo"
    }
}

/// The JSON entry of a codec within a format.
private struct CodecEntry: Encodable {
    let codec: String
    let kind: String
    @Nullable var sampleRates: [Int]?
    let lowestSampleRate: Int
    let highestSampleRate: Int
    let maxChannels: Int
    /// `nil` if every layout is supported.
    @Nullable var channelLayouts: [String]?
    @Nullable var lowestBitRate: Int?
    @Nullable var highestBitRate: Int?
    /// The supported bit rates, over all sample rates and channel counts, if only discrete ones are supported.
    @Nullable var bitRates: [Int]?
    /// The bit rates supported at each sample rate and channel count.
    let bitRateRanges: [BitRateEntry]
    @Nullable var lowestQuality: Double?
    @Nullable var highestQuality: Double?
    /// The supported bit rate modes, starting with the default.
    let bitRateModes: [BitRateMode]
    let applications: [OpusApplication]
    /// The supported milliseconds of audio in a packet, if they can be chosen.
    let frameDurations: [Double]
    /// The supported methods; empty if the encoder takes floating-point samples.
    let dithers: [DitherMethod]
    @Nullable var lowestCompressionLevel: Int?
    @Nullable var highestCompressionLevel: Int?
    let sampleFormats: [SampleFormat]
    /// Whether one file is encoded on several cores.
    let parallel: Bool

    init(_ codec: AudioCodec, in format: AudioFormat) {
        self.codec = codec.name
        kind = codec.kind.rawValue
        let rates = format.sampleRates(of: codec)
        sampleRates = rates
        lowestSampleRate = rates?.min() ?? codec.lowestSampleRate
        highestSampleRate = rates?.max() ?? codec.highestSampleRate
        maxChannels = codec.maxChannels
        channelLayouts = codec.layouts
        bitRates = codec.bitRateSteps
        bitRateRanges = BitRateEntry.all(codec)
        lowestBitRate = codec.bitRates?.lowerBound
        highestBitRate = codec.bitRates?.upperBound
        lowestQuality = codec.qualities?.lowerBound
        highestQuality = codec.qualities?.upperBound
        bitRateModes = codec.bitRateModes
        applications = codec.controls.applications
        frameDurations = codec.controls.frameDurations
        dithers = format.isPicture ? [] : codec.ditherMethods
        lowestCompressionLevel = codec.controls.compressionLevels?.lowerBound
        highestCompressionLevel = codec.controls.compressionLevels?.upperBound
        parallel = codec.joint != nil
        sampleFormats = codec.kind == .pcm ? format.pcmFormats : codec.sampleFormats
    }

    enum CodingKeys: String, CodingKey {
        case codec, kind, applications, dithers, parallel
        case sampleRates = "sample_rates"
        case lowestSampleRate = "lowest_sample_rate"
        case highestSampleRate = "highest_sample_rate"
        case maxChannels = "max_channels"
        case channelLayouts = "channel_layouts"
        case bitRates = "bit_rates"
        case bitRateRanges = "bit_rate_ranges"
        case lowestBitRate = "lowest_bit_rate"
        case highestBitRate = "highest_bit_rate"
        case lowestQuality = "lowest_quality"
        case highestQuality = "highest_quality"
        case bitRateModes = "bit_rate_modes"
        case frameDurations = "frame_durations"
        case lowestCompressionLevel = "lowest_compression_level"
        case highestCompressionLevel = "highest_compression_level"
        case sampleFormats = "sample_formats"
    }
}

/// The bit rates at one sample rate with one channel count.
private struct BitRateEntry: Encodable {
    let sampleRate: Int
    let channels: Int
    let lowest: Int
    let highest: Int

    enum CodingKeys: String, CodingKey {
        case channels, lowest, highest
        case sampleRate = "sample_rate"
    }

    /// One for each of the codec's sample rates, or of the common ones, with 1, 2 and 6 channels.
    static func all(_ codec: AudioCodec) -> [BitRateEntry] {
        let rates = codec.sampleRates ?? [8000, 11025, 16000, 22050, 32000, 44100, 48000, 96000]
        return rates.flatMap { rate in
            [1, 2, 6].filter { $0 <= codec.maxChannels }.compactMap { channels in
                let (lowest, highest): (Int?, Int?) =
                    switch codec.bitRates(sampleRate: rate, channels: channels) {
                    case .range(let range): (range.lowerBound, range.upperBound)
                    case .steps(let steps): (steps.min(), steps.max())
                    case nil: (nil, nil)
                    }
                guard let lowest, let highest else { return nil }
                return BitRateEntry(sampleRate: rate, channels: channels, lowest: lowest, highest: highest)
            }
        }
    }
}

extension AudioFormat {
    fileprivate var entry: FormatEntry {
        FormatEntry(
            format: name, extension: fileExtension, mediaType: mediaType, summary: summary,
            codecs: codecs.compactMap { AudioCodec.named($0) }.map { CodecEntry($0, in: self) })
    }
}
