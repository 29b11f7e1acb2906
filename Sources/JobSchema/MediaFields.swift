import MediaTypes

// The fields for the conversion.
extension FieldReader {
    func plan(_ outputs: OutputReaders) -> ConversionPlan {
        let source = sourceSettings()
        let renditions = outputs.map { _, reader in
            let rendition = reader.rendition()
            for problem in source.track == .all ? rendition.everyTrackProblems : [] {
                reader.refuse(problem.field, problem.description)
            }
            return rendition
        }
        return ConversionPlan(
            source: source, renditions: renditions, isAtomic: fields["atomic"] == "true", threads: whole("threads"))
    }

    private func rendition() -> Rendition {
        let format = fields["format"] ?? ""
        var rendition = Rendition(
            format: format, codec: fields["codec"], bitRate: fields["bit_rate"].flatMap(Self.bitRate),
            quality: number("quality"), sampleRate: whole("sample_rate"), channels: whole("channels"),
            channelLayout: fields["channel_layout"], sampleFormat: word("sample_format"))
        rendition.passthrough = word("passthrough") ?? .auto
        rendition.tags = tagSettings()
        rendition.encoder = encoderSettings()
        rendition.sound = sound()
        guard let named = AudioFormat.named(format) else {
            let names = AudioFormat.all.map(\.name)
            if format.isEmpty {
                refuse("format", "`format` is missing: give one of \(names.joined(separator: " "))")
            } else if let hint = AudioFormat.holding(codec: format) {
                refuse("format", "`format` is `\(Self.shown(format))`, \(hint)")
            } else {
                refuse("format", mustBe: "one of \(names.joined(separator: " "))", words: names)
            }
            return rendition
        }
        rendition.segments = segments(isSegmented: named.isSegmented)
        rendition.picture = picture(named)
        for problem in rendition.problems { refuse(problem.field, problem.description) }
        return rendition
    }

    private func segments(isSegmented: Bool) -> SegmentSettings {
        for name in ["segment_duration", "segment_format", "bit_rates"] where fields[name] != nil && !isSegmented {
            refuse(name, "`\(name)` requires the format hls, and `format` is \(fields["format"] ?? "another")")
        }
        var segments = SegmentSettings()
        segments.duration = time("segment_duration") ?? segments.duration
        segments.container = word("segment_format") ?? segments.container
        segments.bitRates = fields["bit_rates"].flatMap(Self.bitRates) ?? []
        return segments
    }

    /// Parses a bit rate such as `192k` or `192000`.
    static func bitRate(_ text: String) -> Int? {
        let isThousands = text.hasSuffix("k") || text.hasSuffix("K")
        guard let number = Double(isThousands ? String(text.dropLast()) : text), number > 0, number < 1e8 else {
            return nil
        }
        return Int((isThousands ? number * 1000 : number).rounded())
    }

    /// Parses bit rates that are separated by commas.
    static func bitRates(_ text: String) -> [Int]? {
        let rates = text.split(separator: ",", omittingEmptySubsequences: false).map { bitRate(String($0)) }
        return rates.contains(nil) ? nil : rates.compactMap(\.self)
    }
}
