import MediaTypes

// The fields for the conversion.
extension FieldReader {
    func plan(_ outputs: OutputReaders) throws(Failure) -> ConversionPlan {
        let plan = ConversionPlan(
            source: SourceSettings(
                range: try range(), track: try track(), damage: try damage(), tagEncoding: try tagEncoding(),
                drc: try drc()),
            renditions: try outputs.map { _, reader throws(Failure) in try reader.rendition() },
            isAtomic: try isAtomic(), threads: try threads())
        if plan.source.track == .all {
            for rendition in plan.renditions {
                do { try rendition.checkEveryTrack() } catch { throw Self.invalid(error.description) }
            }
        }
        return plan
    }

    func rendition() throws(Failure) -> Rendition {
        guard let format = fields["format"], !format.isEmpty else {
            throw Self.invalid("`format` is missing: give one of \(Self.formatNames)")
        }
        guard let named = AudioFormat.named(format) else {
            guard let hint = AudioFormat.holding(codec: format) else {
                throw wrong("format", oneOf: AudioFormat.all.map(\.name))
            }
            throw Self.invalid("`format` is `\(Self.shown(format))`, \(hint)")
        }
        var rendition = Rendition(
            format: format, codec: fields["codec"], bitRate: try bitRate(), quality: try quality(),
            sampleRate: try whole("sample_rate", 1...768_000), channels: try whole("channels", 1...64),
            channelLayout: fields["channel_layout"], sampleFormat: try sampleFormat())
        rendition.passthrough = try passthrough()
        rendition.segments = try segments(isSegmented: named.isSegmented)
        rendition.picture = try picture(named)
        rendition.tags = try tagSettings()
        rendition.encoder = try encoderSettings()
        rendition.sound = try sound()
        do { try rendition.validate() } catch { throw Self.invalid(error.description) }
        return rendition
    }

    func range() throws(Failure) -> TimeRange {
        let start = try time("start") ?? .zero
        let end = try time("end")
        let duration = try time("duration")
        if end != nil, duration != nil {
            throw Failure(.invalidTimeRange, "`end` and `duration` are mutually exclusive: give one")
        }
        let reach = try sum(start, duration)
        let range = TimeRange(start: start, end: end ?? reach)
        guard !range.isEmpty else {
            let what =
                end != nil
                ? "`end` (\(fields["end"]!)) must be after `start` (\(fields["start"] ?? "0"))" : "`duration` is 0"
            throw Failure(.invalidTimeRange, "the time range is empty: \(what)")
        }
        return range
    }

    private func sum(_ start: MediaTime, _ duration: MediaTime?) throws(Failure) -> MediaTime? {
        guard let duration else { return nil }
        guard let end = start.adding(duration) else {
            throw Failure(
                .invalidTimeRange,
                "the sum of `start` (\(start)) and `duration` (\(duration)) is not exact: give `end` instead of `duration`"
            )
        }
        return end
    }

    private func segments(isSegmented: Bool) throws(Failure) -> SegmentSettings {
        var segments = SegmentSettings()
        for name in ["segment_duration", "segment_format", "bit_rates"] where fields[name] != nil && !isSegmented {
            throw Self.invalid("`\(name)` requires the format hls, and `format` is \(fields["format"] ?? "another")")
        }
        if let text = fields["segment_duration"] {
            guard let duration = MediaTime(parsing: text), SegmentSettings.durations.contains(duration) else {
                throw wrong("segment_duration", "a time from 1 to 60 seconds")
            }
            segments.duration = duration
        }
        if let text = fields["segment_format"] {
            guard let container = SegmentSettings.Container(rawValue: text) else {
                throw wrong("segment_format", oneOf: SegmentSettings.Container.allCases.map(\.rawValue))
            }
            segments.container = container
        }
        if let text = fields["bit_rates"] {
            let rates = text.split(separator: ",", omittingEmptySubsequences: false).map { Self.bitRate(String($0)) }
            guard !rates.contains(nil) else { throw wrong("bit_rates", "bit rates in bit/s, such as 64k,128k") }
            segments.bitRates = rates.compactMap(\.self)
        }
        return segments
    }

    private static var formatNames: String { AudioFormat.all.map(\.name).joined(separator: " ") }

    private func bitRate() throws(Failure) -> Int? {
        guard let text = fields["bit_rate"] else { return nil }
        guard let rate = Self.bitRate(text) else {
            throw wrong("bit_rate", "a bit rate in bit/s, such as 192k or 192000")
        }
        return rate
    }

    /// Parses a bit rate such as `192k` or `192000`.
    private static func bitRate(_ text: String) -> Int? {
        let isThousands = text.hasSuffix("k") || text.hasSuffix("K")
        guard let number = Double(isThousands ? String(text.dropLast()) : text), number > 0, number < 1e8 else {
            return nil
        }
        return Int((isThousands ? number * 1000 : number).rounded())
    }

    private func quality() throws(Failure) -> Double? {
        guard let text = fields["quality"] else { return nil }
        guard let number = Double(text), number.isFinite else {
            throw wrong("quality", "a number on the codec's VBR scale")
        }
        return number
    }

    private func sampleFormat() throws(Failure) -> SampleFormat? {
        guard let text = fields["sample_format"] else { return nil }
        guard let format = SampleFormat(rawValue: text) else {
            throw wrong("sample_format", oneOf: SampleFormat.allCases.map(\.rawValue))
        }
        return format
    }

    private func time(_ name: String) throws(Failure) -> MediaTime? {
        guard let text = fields[name] else { return nil }
        guard let time = MediaTime(parsing: text) else {
            throw wrong(name, "a time, such as 5:00, 1:02:03.5, 300 or 13230000/44100", code: .invalidTimeRange)
        }
        return time
    }
}
