import Libav
package import MediaTypes

// The names and options of libav's encoders, from the table of codecs.
extension AudioCodec {
    /// The name of libav's encoder.
    package func encoderName(_ stored: SampleFormat?, _ order: SampleFormat.ByteOrder) -> String {
        switch encoder {
        case .named(let name): name
        case .ofSamples(let prefix): prefix + stored!.libavName(order)
        }
    }
}

extension SampleFormat {
    /// libav's name of the sample format. The byte order applies if the format does not specify one.
    package func libavName(_ order: ByteOrder) -> String {
        bits > 8 ? base.rawValue + ((byteOrder ?? order) == .little ? "le" : "be") : rawValue
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
        if let bitRate, let least = joint.lowestBitRate, bitRate < least { return false }
        // The check of a joint compares samples of the same rate.
        if let rate = codec.packets.decodedRate, rate != shape.rate { return false }
        var settings = encoder
        if settings.bitRateMode == codec.bitRateMode(nil, withQuality: quality != nil) { settings.bitRateMode = nil }
        return settings == EncoderSettings() && (quality == nil || joint.rule != .windows)
    }
}
