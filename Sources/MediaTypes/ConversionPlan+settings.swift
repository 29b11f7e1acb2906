extension ConversionPlan {
    /// The settings that the job requests, by the names in a report. Settings that the job leaves open are not included.
    package func requestedSettings(of index: Int) -> [String: String] {
        let rendition = renditions[index]
        var settings: [String: String?] = rendition.sound.requested
        settings["codec"] = rendition.codec
        settings["sample_rate"] = rendition.sampleRate.map { String($0) }
        settings["channels"] = rendition.channels.map { String($0) }
        settings["channel_layout"] = rendition.channelLayout
        settings["sample_format"] = rendition.sampleFormat?.rawValue
        settings["bit_rate"] = rendition.bitRate.map { String($0) }
        settings["quality"] = rendition.quality.map { String($0) }
        let rates = rendition.segments.bitRates
        settings["bit_rates"] = rates.isEmpty ? nil : rates.map { String($0) }.joined(separator: ",")
        settings["split_channels"] = rendition.picture.splitsChannels.map { String($0) }
        settings["size"] = rendition.picture.size?.description
        settings["tracks"] = source.track == .all ? "all" : nil
        return settings.compactMapValues(\.self).merging(rendition.encoder.requested) { $1 }
    }
}
