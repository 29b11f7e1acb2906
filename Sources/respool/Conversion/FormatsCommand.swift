import FoundationEssentials
import MediaTypes

extension Command {
    static let formats = Command("formats", "lists the formats, their codecs and what these take", options: [.json]) {
        arguments throws(CommandFailure) in
        let lines = arguments.has(.json) ? AudioFormat.all.map { JSONLine.text($0.entry) } : FormatList.lines()
        StandardStream.output(lines.map { $0 + "\n" }.joined())
        return .success
    }
}

/// The tables of formats and codecs, for people.
private enum FormatList {
    static func lines() -> [String] {
        let terminal = Terminal.output
        var formats = Table(["FORMAT": .left, "FILE": .left, "CODECS": .left, "SAMPLES": .left, "WHAT": .left])
        for format in AudioFormat.all {
            formats.append([
                .init(format.name, .bold), .init("." + format.fileExtension),
                .init(format.codecs.joined(separator: " ")), .init(samples(format)), .init(format.summary),
            ])
        }
        var codecs = Table([
            "CODEC": .left, "KIND": .left, "CHANNELS": .right, "HZ": .left, "BIT RATE": .left, "QUALITY": .left,
        ])
        for codec in AudioCodec.all {
            codecs.append([
                .init(codec.name, .bold), .init(codec.kind.rawValue), .init("1-\(codec.mostChannels)"),
                .init(rates(codec)), .init(bitRates(codec)), .init(qualities(codec)),
            ])
        }
        return formats.lines(for: terminal) + [""] + codecs.lines(for: terminal)
    }

    private static func samples(_ format: AudioFormat) -> String {
        format.codecs[0] == "pcm"
            ? format.pcmFormats.filter { $0.byteOrder == nil }.map(\.rawValue).joined(separator: " ") : "-"
    }

    private static func rates(_ codec: AudioCodec) -> String {
        codec.sampleRates.map { $0.map(String.init).joined(separator: " ") }
            ?? "\(codec.lowestSampleRate)-\(codec.highestSampleRate)"
    }

    private static func bitRates(_ codec: AudioCodec) -> String {
        codec.bitRates.map { "\($0.lowerBound / 1000)k-\($0.upperBound / 1000)k" } ?? "-"
    }

    private static func qualities(_ codec: AudioCodec) -> String {
        codec.qualities.map {
            "\(Quantities.decimal($0.lowerBound, places: 0)) to \(Quantities.decimal($0.upperBound, places: 0))"
        }
            ?? "-"
    }
}

/// A format as a program reads it.
private struct FormatEntry: Encodable {
    let format: String
    let `extension`: String
    let mediaType: String
    let summary: String
    let codecs: [CodecEntry]

    enum CodingKeys: String, CodingKey {
        case format, `extension`, summary, codecs
        case mediaType = "media_type"
    }
}

/// A codec within a format.
private struct CodecEntry: Encodable {
    let codec: String
    let kind: String
    @Nullable var sampleRates: [Int]?
    let lowestSampleRate: Int
    let highestSampleRate: Int
    let mostChannels: Int
    @Nullable var lowestBitRate: Int?
    @Nullable var highestBitRate: Int?
    @Nullable var lowestQuality: Double?
    @Nullable var highestQuality: Double?
    let sampleFormats: [SampleFormat]

    init(_ codec: AudioCodec, in format: AudioFormat) {
        self.codec = codec.name
        kind = codec.kind.rawValue
        sampleRates = codec.sampleRates
        lowestSampleRate = codec.lowestSampleRate
        highestSampleRate = codec.highestSampleRate
        mostChannels = codec.mostChannels
        lowestBitRate = codec.bitRates?.lowerBound
        highestBitRate = codec.bitRates?.upperBound
        lowestQuality = codec.qualities?.lowerBound
        highestQuality = codec.qualities?.upperBound
        sampleFormats = codec.kind == .pcm ? format.pcmFormats : codec.sampleFormats
    }

    enum CodingKeys: String, CodingKey {
        case codec, kind
        case sampleRates = "sample_rates"
        case lowestSampleRate = "lowest_sample_rate"
        case highestSampleRate = "highest_sample_rate"
        case mostChannels = "most_channels"
        case lowestBitRate = "lowest_bit_rate"
        case highestBitRate = "highest_bit_rate"
        case lowestQuality = "lowest_quality"
        case highestQuality = "highest_quality"
        case sampleFormats = "sample_formats"
    }
}

extension AudioFormat {
    fileprivate var entry: FormatEntry {
        FormatEntry(
            format: name, extension: fileExtension, mediaType: mediaType, summary: summary,
            codecs: codecs.compactMap { AudioCodec.named($0) }.map { CodecEntry($0, in: self) })
    }
}
