import JobSchema
package import MediaTypes
import Text

/// Why a value that a transcoder reports cannot be true; the worker does not trust that process.
package struct ImplausibleReport: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// The description names the value that cannot be true.
    package init(_ description: String) { self.description = description }
}

extension OutputMeasurement {
    private static let maxWarnings = 64
    /// The maximum size of a warning, a value or a title in bytes.
    private static let maxTextBytes = 1024
    /// The maximum size of all titles in bytes, so that they fit into one packet.
    private static let maxTitleBytes = 128 << 10

    /// The validated measurement of that rendition, with every text bounded and unknown names removed.
    ///
    /// Throws if a number or a name is one that a correct transcoder cannot report.
    package func checked(
        as rendition: Rendition, maxSeconds: Int, requested: [String: String]
    ) throws(ImplausibleReport) -> OutputMeasurement {
        let format = AudioFormat.named(rendition.format)
        guard format?.picture?.codecName == codec || format?.codecs.contains(codec) == true else {
            throw ImplausibleReport("the codec `\(codec.bounded(utf8Bytes: 64))` in \(rendition.format)")
        }
        // Rates are rounded, and encoders fill their last frames.
        let longest = Double(maxSeconds) * (rendition.sound.tempo?.stretch ?? 1)
        try Self.check("duration", duration, 0...longest + 60)
        try Self.check("sample_rate", Double(sampleRate), 1...Double(SourceLimits.highestRate))
        try Self.check("channels", Double(channels), 1...Double(SourceLimits.maxChannels))
        try Self.check("bit_rate", Double(bitRate), 0...0x1p53)
        try Self.check("gapless", Double(gapless.start), 0...0x1p40)
        try Self.check("gapless", Double(gapless.end), 0...0x1p40)
        try Self.check("damage", damage.seconds, 0...1e9)
        try Self.check("damage", Double(damage.events), 0...0x1p53)
        try loudness?.check()
        for title in titles { try Self.check("title", title.time, 0...1e9) }
        if let audioMD5 {
            guard audioMD5.utf8.count == 32, audioMD5.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else {
                throw ImplausibleReport("the audio_md5 `\(audioMD5.bounded(utf8Bytes: 64))`")
            }
        }
        if let encoders {
            for count in [encoders.segments, encoders.joints, encoders.fallbacks] {
                try Self.check("encoders", Double(count), 0...1e6)
            }
        }
        var result = self
        result.settings = boundedSettings(requested)
        result.warnings = warnings.lazy.filter { Warning.Code(rawValue: $0.code)?.isOfConversion == true }
            .prefix(Self.maxWarnings).map { warning in
                var warning = warning
                warning.message = warning.message.bounded(utf8Bytes: Self.maxTextBytes)
                return warning
            }
        result.titles = boundedTitles
        return result
    }

    /// The values of settings that a job can have; a value that repeats the job's own may be as long as that.
    private func boundedSettings(_ requested: [String: String]) -> [String: String] {
        settings.filter { Self.settingNames.contains($0.key) }.reduce(into: [:]) { result, setting in
            result[setting.key] =
                setting.value == requested[setting.key]
                ? setting.value : setting.value.bounded(utf8Bytes: Self.maxTextBytes)
        }
    }

    /// The names of a job's fields, and `tracks`, the number of its tracks.
    private static let settingNames = Set(JobField.all.map(\.name) + ["tracks"])

    private var boundedTitles: [TimedTitle] {
        var room = Self.maxTitleBytes
        return titles.prefix { title in
            room -= min(title.title.utf8.count, Self.maxTextBytes) + 50
            return room >= 0
        }.map { TimedTitle(time: $0.time, title: $0.title.prefix(utf8Bytes: Self.maxTextBytes)) }
    }

    fileprivate static func check(
        _ name: String, _ value: Double, _ range: ClosedRange<Double>
    ) throws(ImplausibleReport) {
        // NaN is in no range.
        guard range.contains(value) else { throw ImplausibleReport("the \(name) \(value)") }
    }
}

extension LoudnessChange {
    /// Throws if a level is physically impossible.
    fileprivate func check() throws(ImplausibleReport) {
        let levels = [before, after].flatMap { loudness in
            [loudness.integrated, loudness.range, loudness.truePeak, loudness.samplePeak, loudness.momentary]
        }
        for level in levels + [gain] {
            if let level { try OutputMeasurement.check("loudness", level, -10_000...10_000) }
        }
    }
}
