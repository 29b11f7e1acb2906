/// The requested settings of an encoder beside the format, the bit rate and the quality. Open settings are the encoder's own.
package struct EncoderSettings: Codable, Hashable, Sendable {
    /// A level on the scale of ffmpeg's `-compression_level`, whose direction depends on the encoder; for AAC, its coder.
    package var compressionLevel: Int?
    /// `nil` for the default mode of the codec.
    package var bitRateMode: BitRateMode?
    /// What Opus is tuned for.
    package var application: OpusApplication?
    /// Milliseconds of audio in a packet.
    package var frameDuration: Double?

    package init() {}

    enum CodingKeys: String, CodingKey {
        case application
        case frameDuration = "frame_duration"
        case bitRateMode = "bit_rate_mode"
        case compressionLevel = "compression_level"
    }
}

extension EncoderSettings {
    /// The settings that are not open, by job field name.
    package var requested: [String: String] {
        let settings = [
            "compression_level": compressionLevel.map { String($0) }, "bit_rate_mode": bitRateMode?.rawValue,
            "application": application?.rawValue, "frame_duration": frameDuration.map { Self.text(milliseconds: $0) },
        ]
        return settings.compactMapValues(\.self)
    }

    /// What Opus is tuned for: the requested application, or the only one that has such short packets; `nil` if it is open.
    package var effectiveApplication: OpusApplication? {
        application ?? (hasShortPackets ? .lowdelay : nil)
    }

    /// Whether a packet is shorter than the 10 ms that the speech mode of Opus needs. libavcodec then changes the application.
    fileprivate var hasShortPackets: Bool { frameDuration.map { $0 < 10 } ?? false }

    /// `20` or `2.5`.
    fileprivate static func text(milliseconds: Double) -> String {
        milliseconds == milliseconds.rounded() ? String(Int(milliseconds)) : String(milliseconds)
    }
}

/// The applications of libopus.
package enum OpusApplication: String, Codable, Hashable, Sendable, CaseIterable {
    /// Faithful to the input.
    case audio
    /// Intelligible speech.
    case voip
    /// The shortest delay, without the speech mode.
    case lowdelay
}

/// How an encoder spends its bits over time.
package enum BitRateMode: String, Codable, Hashable, Sendable, CaseIterable {
    /// Packets of a constant size, except for the rounding to whole bytes.
    case cbr
    /// Packets of different sizes that have the bit rate on average.
    case abr
    /// Packets as large as their content requires.
    case vbr
}

/// What an encoder lets a job set, beside bit rate and quality.
package struct EncoderControls: Sendable {
    /// The supported levels; `nil` if the encoder has none.
    package var compressionLevels: ClosedRange<Int>?
    /// libavcodec's option for them; `nil` if that is `compression_level`.
    package var compressionLevelOption: Option<Int>?
    /// The modes with a bit rate, starting with the default. A quality is always a variable bit rate.
    package var bitRateModes: [BitRateMode] = []
    /// libavcodec's option that selects among them; `nil` if there is one mode.
    package var bitRateModeOption: Option<BitRateMode>?
    /// The applications that a job may request; empty if the encoder cannot be tuned.
    package var applications: [OpusApplication] = []
    /// Milliseconds of audio in a packet; empty if they are fixed.
    package var frameDurations: [Double] = []

    /// An option of libavcodec for a setting that has another scale here.
    package struct Option<Choice: Hashable & Sendable>: Sendable {
        /// The name of the option, as in ffmpeg without the hyphen.
        package let name: String
        /// The option's text for each choice.
        package let values: [Choice: String]
    }

    /// An encoder without such settings.
    static let none = EncoderControls()
}

extension AudioCodec {
    /// The modes that a job may request; empty if the bit rate cannot be chosen.
    package var bitRateModes: [BitRateMode] {
        let modes = controls.bitRateModes
        return qualities == nil || modes.contains(.vbr) ? modes : modes + [.vbr]
    }

    /// The mode with a quality or with a bit rate; `nil` if the bit rate cannot be chosen.
    package func bitRateMode(_ requested: BitRateMode?, withQuality: Bool) -> BitRateMode? {
        withQuality ? .vbr : requested ?? controls.bitRateModes.first
    }
}

extension Rendition {
    /// Throws if packets must be copied, and the job also sets what requires encoding.
    func checkCopy(_: AudioFormat, _: AudioCodec) throws(FormatProblem) {
        guard passthrough == .require else { return }
        let settings = encoder.requested.merging(sound.requested) { $1 }
        if let (name, value) = settings.min(by: { $0.key < $1.key }) {
            throw FormatProblem(
                name,
                "`passthrough` is `require`, and \(name) (\(value)) requires encoding; leave one of them out")
        }
    }

    func checkApplication(_: AudioFormat, _ codec: AudioCodec) throws(FormatProblem) {
        guard let application = encoder.application, !codec.controls.applications.contains(application) else { return }
        throw FormatProblem(
            "application",
            "\(codec.name) does not support application \(application.rawValue); leave application out")
    }

    func checkFrameDuration(_: AudioFormat, _ codec: AudioCodec) throws(FormatProblem) {
        guard let duration = encoder.frameDuration else { return }
        let text = EncoderSettings.text(milliseconds: duration)
        let durations = codec.controls.frameDurations
        guard durations.contains(duration) else {
            let right = durations.map { EncoderSettings.text(milliseconds: $0) }.joined(separator: ", ")
            throw FormatProblem(
                "frame_duration",
                "\(codec.name) does not support frame_duration \(text); "
                    + (right.isEmpty ? "leave frame_duration out" : "it supports \(right) ms"))
        }
        if encoder.hasShortPackets, let application = encoder.application, application != .lowdelay {
            throw FormatProblem(
                "frame_duration",
                "frame_duration \(text) requires application lowdelay, and application is \(application.rawValue); "
                    + "give lowdelay, or 10 ms or more")
        }
        try checkShortPackets(bitRate: bitRate, channels: requestedChannels ?? 1)
    }

    /// Throws if short packets of a constant size would be so small that libopus writes silence (less than 3 bytes a stream).
    package func checkShortPackets(bitRate: Int?, channels: Int) throws(FormatProblem) {
        guard encoder.bitRateMode == .cbr, encoder.hasShortPackets, let duration = encoder.frameDuration, let bitRate
        else { return }
        let least = Int(30_000 / duration) * channels
        guard bitRate >= least else {
            throw FormatProblem(
                "frame_duration",
                "frame_duration \(EncoderSettings.text(milliseconds: duration)) with bit_rate_mode cbr does not support "
                    + "bit_rate \(bitRate); it supports \(least) and more")
        }
    }

    func checkBitRateMode(_: AudioFormat, _ codec: AudioCodec) throws(FormatProblem) {
        guard let mode = encoder.bitRateMode else { return }
        guard codec.bitRateModes.contains(mode) else {
            let right = codec.bitRateModes.map(\.rawValue).joined(separator: ", ")
            throw FormatProblem(
                "bit_rate_mode",
                "\(codec.name) does not support bit_rate_mode \(mode.rawValue); "
                    + (right.isEmpty ? "leave bit_rate_mode out" : "it supports \(right)"))
        }
        if quality != nil, mode != .vbr {
            throw FormatProblem(
                "bit_rate_mode",
                "bit_rate_mode is \(mode.rawValue), and a quality has a variable bit rate; give bit_rate instead of quality"
            )
        }
        if quality == nil, codec.defaultQuality == nil, !codec.controls.bitRateModes.contains(mode) {
            throw FormatProblem(
                "bit_rate_mode", "bit_rate_mode \(mode.rawValue) of \(codec.name) requires a quality; give quality")
        }
    }

    func checkCompressionLevel(_: AudioFormat, _ codec: AudioCodec) throws(FormatProblem) {
        guard let level = encoder.compressionLevel else { return }
        guard let levels = codec.controls.compressionLevels else {
            throw FormatProblem(
                "compression_level",
                "\(codec.name) has no compression levels, and compression_level is \(level); leave compression_level out"
            )
        }
        guard levels.contains(level) else {
            throw FormatProblem(
                "compression_level",
                "\(codec.name) does not support compression_level \(level); it supports \(levels.lowerBound) to \(levels.upperBound)"
            )
        }
    }
}
