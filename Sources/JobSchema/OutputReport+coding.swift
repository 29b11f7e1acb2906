import MediaTypes

extension OutputReport: Codable {
    private enum CodingKeys: String, CodingKey {
        case url, format, codec, bytes, duration, channels, sha256, copied, gapless, damage, settings, warnings
        case loudness, encoders, etag, parts, titles, error
        case sampleRate = "sample_rate"
        case bitRate = "bit_rate"
        case audioMD5 = "audio_md5"
    }

    /// Writes every key; values that do not apply are `null`.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        func encode(_ value: some Encodable, _ key: CodingKeys) throws {
            if isMade { try container.encode(value, forKey: key) } else { try container.encodeNil(forKey: key) }
        }
        try container.encode(url, forKey: .url)
        try container.encode(format, forKey: .format)
        try encode(codec, .codec)
        try encode(bytes, .bytes)
        try encode(duration, .duration)
        try encode(sampleRate, .sampleRate)
        try encode(channels, .channels)
        try encode(bitRate, .bitRate)
        try encode(sha256, .sha256)
        try encode(copied, .copied)
        try encode(gapless, .gapless)
        try encode(damage, .damage)
        let reported = Dictionary(
            uniqueKeysWithValues: settings.map { ($0.key, ReportedSetting($0.value, of: $0.key)) })
        try encode(reported, .settings)
        try container.encode(warnings, forKey: .warnings)
        try container.encode(loudness, forKey: .loudness)
        try container.encode(audioMD5, forKey: .audioMD5)
        try container.encode(encoders, forKey: .encoders)
        try container.encode(etag, forKey: .etag)
        try container.encode(parts, forKey: .parts)
        // Only radio streams have titles.
        try container.encodeIfPresent(titles, forKey: .titles)
        try container.encode(error, forKey: .error)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let bare = OutputReport(
            format: try container.decode(String.self, forKey: .format),
            error: try container.decodeIfPresent(Failure.self, forKey: .error))
        self = bare
        url = try container.decode(String.self, forKey: .url)
        warnings = try container.decode([Warning].self, forKey: .warnings)
        guard isMade else { return }
        self.init(
            url: try container.decode(String.self, forKey: .url),
            format: try container.decode(String.self, forKey: .format),
            codec: try container.decode(String.self, forKey: .codec),
            bytes: try container.decode(Int64.self, forKey: .bytes),
            duration: try container.decode(Double.self, forKey: .duration),
            sampleRate: try container.decode(Int.self, forKey: .sampleRate),
            channels: try container.decode(Int.self, forKey: .channels),
            bitRate: try container.decode(Int.self, forKey: .bitRate),
            sha256: try container.decode(String.self, forKey: .sha256),
            copied: try container.decode(Bool.self, forKey: .copied),
            gapless: try container.decode(Gapless.self, forKey: .gapless),
            damage: try container.decode(Damage.self, forKey: .damage),
            settings: try container.decode([String: ReportedSetting].self, forKey: .settings).mapValues(\.setting),
            warnings: try container.decode([Warning].self, forKey: .warnings))
        loudness = try container.decodeIfPresent(LoudnessChange.self, forKey: .loudness)
        audioMD5 = try container.decodeIfPresent(String.self, forKey: .audioMD5)
        encoders = try container.decodeIfPresent(SegmentReport.self, forKey: .encoders)
        etag = try container.decodeIfPresent(String.self, forKey: .etag)
        parts = try container.decodeIfPresent(PartsReport.self, forKey: .parts)
        titles = try container.decodeIfPresent([TimedTitle].self, forKey: .titles)
    }
}
