import FoundationEssentials
import JobSchema
import Lifecycle
import MediaTypes
import SlotIPC
import Slots
import Text

extension Command {
    static let probe = Command(
        "probe", usages: ["SOURCE"], "shows the container, length, tracks and tags of a source",
        options: [
            .json, ProbeOptions.loudness, ProbeOptions.silence, ProbeOptions.silenceThreshold,
            ConvertOptions.spoolFolder, .allowHost,
        ],
        examples: [
            .init(line: "respool probe talk.mp3 --json", meaning: "prints JSON"),
            .init(
                line: "respool probe talk.mp3 --loudness --silence",
                meaning: "measures loudness and lists silence"),
        ],
        operands: 1...1, operandSuggestion: .files
    ) { arguments throws(CommandFailure) in
        let source = arguments.operands[0]
        let settings = try ProbeOptions.settings(arguments)
        var configuration = try ConvertOptions.configuration(arguments)
        let typed = source == "-" ? nil : SourceAddress.path(ofFileURL: try SourceAddress.url(source))
        try ConvertOptions.createSpoolFolder(configuration.policy, sources: [typed])
        let input = try PipedInput.open(source, configuration.policy)
        defer { withExtendedLifetime(input) {} }
        let url: String
        if let input { url = "file://" + input.sourcePath } else { url = try SourceAddress.url(source) }
        let path = SourceAddress.path(ofFileURL: url)
        configuration.policy.grantedSource = path
        configuration.sourceDescriptor = input?.descriptor
        configuration.policy.sourceRoots = ConvertOptions.playlistFolder(path).map { [$0] } ?? []
        let session = PairSession(number: 0, configuration: configuration, log: Log(least: .error))
        let interruption = await Interruption.stopping(session)
        let result: Result<String, SlotError>
        do throws(SlotError) { result = .success(try await session.probe(sourceURL: url, id: "probe", settings)) } catch
        {
            result = .failure(error)
        }
        await session.end()
        await session.shutdown()
        interruption.resolve()
        switch result {
        case .failure(let error): throw .failed(error.failure, source: source, isJSON: arguments.has(.json))
        case .success(let text):
            StandardStream.output(
                arguments.has(.json) ? PrintableText.escaped(json: text) + "\n" : try ProbeReport.lines(text, source))
            return .success
        }
    }
}

private enum ProbeOptions {
    static let loudness = Option("loudness", "measures loudness, loudness range and peaks (EBU R 128)")
    static let silence = Option("silence", "lists silent ranges")
    static let silenceThreshold = Option(
        "silence-threshold", value: "DB[,SECONDS]", "threshold of silence in dB, and its minimum length in seconds",
        fallback: "-60,0.5")

    static func settings(_ arguments: Arguments) throws(CommandFailure) -> ProbeSettings {
        var settings = ProbeSettings(loudness: arguments.has(loudness))
        if arguments.has(silence) { settings.silence = ProbeSettings.usualSilence }
        if let text = arguments.given(silenceThreshold).last {
            guard let threshold = SilenceTrim(parsing: text) else {
                throw .usage("--silence-threshold is '\(text)': give decibels and seconds, such as -60,0.5")
            }
            settings.silence = threshold
            if !text.contains(",") { settings.silence?.minimum = ProbeSettings.usualSilence.minimum }
        }
        return settings
    }
}

/// The fields of a probe that are printed for people.
private struct ProbeReport: Decodable {
    let format: String
    let seconds: Double?
    let estimated: Bool
    let bitRate: Int?
    let bytes: Int64
    let tracks: [Track]
    let tags: [String: [String]]
    let pictures: [Picture]
    let chapters: [Chapter]
    let chaptersLeftOut: Int?
    let tagsLeftOut: Int?

    struct Picture: Decodable {
        let type: Int
        let mediaType: String
        let description: String
        let bytes: Int64

        enum CodingKeys: String, CodingKey {
            case type, description, bytes
            case mediaType = "media_type"
        }
    }

    struct Chapter: Decodable {
        let start: Double
        let title: String
    }

    struct Track: Decodable {
        let number: Int
        let codec: String
        let sampleRate: Int
        let channels: Int
        let channelLayout: String
        let bits: Int?
        let bitRate: Int?
        let language: String?
        let title: String?
        let isDefault: Bool
        let loudness: Loudness?
        let silences: [Silence]?
        let silencesLeftOut: Int?

        enum CodingKeys: String, CodingKey {
            case number, codec, channels, bits, language, title, loudness, silences
            case sampleRate = "sample_rate"
            case channelLayout = "channel_layout"
            case isDefault = "default"
            case silencesLeftOut = "silences_left_out"
            case bitRate = "bit_rate"
        }
    }

    enum CodingKeys: String, CodingKey {
        case format, seconds, estimated, bytes, tracks, tags, pictures, chapters
        case bitRate = "bit_rate"
        case chaptersLeftOut = "chapters_left_out"
        case tagsLeftOut = "tags_left_out"
    }

    static func lines(_ json: String, _ source: String) throws(CommandFailure) -> String {
        guard let report = try? JSONDecoder().decode(ProbeReport.self, from: Data(json.utf8)) else {
            throw .failed(
                "the probe of '\(SourceAddress.shown(source))' cannot be read: is respool-transcode of the same version?"
            )
        }
        return report.pairs.map { name, value in
            let name = Terminal.output.colored(TextLayout.fitted(name, width: 10), .faint)
            return "\(name) \(TextLayout.printable(value))\n"
        }.joined()
    }

    private var pairs: [(String, String)] {
        var pairs = [("format", format), ("length", length)]
        if let bitRate { pairs.append(("bit rate", "\(bitRate / 1000) kb/s")) }
        pairs.append(("size", Formatting.bytes(bytes)))
        for track in tracks {
            pairs.append(("track \(track.number)", track.facts(amongOthers: tracks.count > 1)))
            if let loudness = track.loudness { pairs.append(("loudness", loudness.facts)) }
            for silence in track.silences ?? [] { pairs.append(("silence", silence.facts)) }
            if track.silences?.isEmpty == true { pairs.append(("silence", "none")) }
            if let count = track.silencesLeftOut {
                pairs.append(("silence", "\(count) more: give a longer minimum length"))
            }
        }
        for (name, values) in tags.sorted(by: { $0.key < $1.key }) {
            pairs.append((name, values.joined(separator: "; ")))
        }
        for picture in pictures { pairs.append(("picture", picture.facts)) }
        for chapter in chapters { pairs.append(("chapter", "\(Formatting.clock(chapter.start)) \(chapter.title)")) }
        if let count = chaptersLeftOut { pairs.append(("chapter", "\(count) more, left out")) }
        if let count = tagsLeftOut { pairs.append(("tags", "\(count) more, too long to be listed")) }
        return pairs
    }

    private var length: String {
        guard let seconds else { return "unknown" }
        return
            "\(Formatting.clock(seconds)) (\(Formatting.decimal(seconds, places: 3)) s\(estimated ? ", estimated" : ""))"
    }
}

extension ProbeReport.Picture {
    fileprivate var facts: String {
        let facts = ["type \(type)", mediaType, Formatting.bytes(bytes)]
        return (description.isEmpty ? facts : facts + [description]).joined(separator: ", ")
    }
}

extension Loudness {
    fileprivate var facts: String {
        func measured(_ value: Double?, _ unit: String) -> String? {
            value.map { "\($0 < 0 ? "-" : "")\(Formatting.decimal($0.magnitude, places: 1)) \(unit)" }
        }
        let facts = [
            measured(integrated, "LUFS") ?? "silent", measured(range, "LU range"),
            measured(momentary, "LUFS momentary"),
            measured(truePeak, "dBTP"), measured(samplePeak, "dBFS sample peak"),
        ]
        return facts.compactMap { $0 }.joined(separator: ", ")
    }
}

extension Silence {
    fileprivate var facts: String {
        "\(Formatting.decimal(startSeconds, places: 3)) s to \(Formatting.decimal(endSeconds, places: 3)) s"
    }
}

extension ProbeReport.Track {
    fileprivate func facts(amongOthers: Bool) -> String {
        var facts = [codec, "\(sampleRate) Hz", "\(channels) ch (\(channelLayout))"]
        if let bits { facts.append("\(bits) bit") }
        if let bitRate { facts.append("\(bitRate / 1000) kb/s") }
        facts += [language, title].compactMap { $0 }
        if amongOthers, isDefault { facts.append("default") }
        return facts.joined(separator: ", ")
    }
}
