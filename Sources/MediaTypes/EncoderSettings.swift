/// The requested settings of an encoder beside the format, the bit rate and the quality. Open settings are the encoder's own.
package struct EncoderSettings: Codable, Hashable, Sendable {
    /// A level on the scale of ffmpeg's `-compression_level`, whose direction depends on the encoder.
    package var compressionLevel: Int?

    package init() {}

    enum CodingKeys: String, CodingKey {
        case compressionLevel = "compression_level"
    }
}

extension EncoderSettings {
    /// The settings that are not open, by job field name.
    package var requested: [String: String] {
        let settings = ["compression_level": compressionLevel.map { String($0) }]
        return settings.compactMapValues(\.self)
    }
}

/// What an encoder lets a job set, beside bit rate and quality.
package struct EncoderControls: Sendable {
    /// The levels of libavcodec's `compression_level`; `nil` if the encoder has none.
    package var compressionLevels: ClosedRange<Int>?

    /// An encoder without such settings.
    static let none = EncoderControls()
}

extension Rendition {
    /// Validates the settings of the encoder.
    func checkEncoder(_ codec: AudioCodec) throws(FormatProblem) {
        if passthrough == .require, let (name, value) = encoder.requested.min(by: { $0.key < $1.key }) {
            throw FormatProblem(
                name,
                "`passthrough` is `require`, and \(name) (\(value)) is a setting of an encoder; leave one of them out")
        }
        try checkCompressionLevel(codec)
    }

    private func checkCompressionLevel(_ codec: AudioCodec) throws(FormatProblem) {
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
