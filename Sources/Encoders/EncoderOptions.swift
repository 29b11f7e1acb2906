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

extension AudioCodec {
    /// Defaults of the encoder on which joints and lengths rest, and which another release of libav may change, as FFmpeg 9.1 does
    /// `aac_coder`.
    fileprivate var requiredDefaults: [(String, String)] {
        switch id {
        case .aac: [("aac_coder", "twoloop")]
        case .mp3: [("reservoir", "1"), ("joint_stereo", "1"), ("abr", "0")]
        case .opus: [("application", "audio"), ("frame_duration", "20"), ("vbr", "on")]
        default: []
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
    /// The options of libav's encoder. The last value of an option counts.
    var encoderOptions: [(String, String)] {
        var options = codec.requiredDefaults
        if let level = encoder.compressionLevel {
            let option = codec.controls.compressionLevelOption
            options.append((option?.name ?? "compression_level", option?.values[level] ?? String(level)))
        }
        if let option = codec.controls.bitRateModeOption, let value = bitRateMode.flatMap({ option.values[$0] }) {
            options.append((option.name, value))
        }
        if let application = encoder.effectiveApplication { options.append(("application", application.rawValue)) }
        if let duration = encoder.frameDuration { options.append(("frame_duration", String(duration))) }
        // By default, libavcodec exchanges channels of 5.0 and 6.1 (`libavcodec_libopus_channel_map`).
        if codec.id == .opus, shape.channels > 2 { options.append(("mapping_family", "1")) }
        return options
    }
}

extension EncodingSettings {
    /// Whether joints were proven for these settings.
    var canBeJoined: Bool {
        guard codec.kind == .lossy, let limits = codec.joint?.limits else { return true }
        if let quality, let highest = limits.highestQuality, quality > highest { return false }
        if let most = limits.maxChannels, shape.channels > most { return false }
        guard let bitRate else { return true }
        guard bitRate.isMultiple(of: limits.bitRateUnit) else { return false }
        // Encoders of Opus take seconds to agree on its mode for speech, which `lowdelay` does not have.
        guard encoder.effectiveApplication != .lowdelay else { return true }
        let least =
            shape.channels > 2 ? limits.lowestChannelBitRate.map { $0 * shape.channels } : limits.lowestBitRate
        return bitRate >= least ?? 0
    }
}
