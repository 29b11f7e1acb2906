import Encoders
import Libav
import MediaTypes

// The names and options of libav's muxers, from the tables.
extension AudioFormat {
    /// The options of the muxer.
    func muxerOptions(rate: Int) -> [OutputContainer.Option] {
        guard container.gapless == .editList else { return container.options }
        // The edit list uses the movie's timescale. With the default of 1000, it would be rounded to milliseconds.
        return [("movflags", "+faststart"), ("movie_timescale", String(rate))] + container.options
    }
}

extension EncodingSettings {
    /// The name of libav's muxer; `nil` if the format is not written by one.
    var muxerName: String? {
        switch format.container.muxer {
        case .named(let name): name
        case .ofSamples: sampleFormat!.libavName(format.byteOrder)
        case .none: nil
        }
    }
}

extension EncodingSettings {
    /// The options of libav's encoder.
    var encoderOptions: [(String, String)] {
        var options: [(String, String)] = []
        if let level = encoder.compressionLevel { options.append(("compression_level", String(level))) }
        if let option = codec.controls.bitRateModeOption, let value = bitRateMode.flatMap({ option.values[$0] }) {
            options.append((option.name, value))
        }
        if let application = encoder.effectiveApplication { options.append(("application", application.rawValue)) }
        if let duration = encoder.frameDuration { options.append(("frame_duration", String(duration))) }
        return options
    }
}

extension EncodingSettings {
    /// Whether joints were proven for these settings. Those of a lossy encoder change how soon its state no longer depends on
    /// what it was fed first.
    var canBeJoined: Bool {
        guard codec.kind == .lossy, let joint = codec.joint else { return true }
        var settings = encoder
        if settings.bitRateMode == codec.bitRateMode(nil, withQuality: quality != nil) { settings.bitRateMode = nil }
        return settings == EncoderSettings() && (quality == nil || joint.rule != .windows)
    }
}
