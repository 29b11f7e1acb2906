package import MediaTypes

/// The result of one output; the element of a job's `outputs`.
package struct OutputReport: Hashable, Sendable {
    /// The location of the result, also if it was not made.
    package var url: String
    /// The format's name in a job.
    package var format: String
    /// The codec's name in a job.
    package var codec: String
    /// The size of the main file, if there are several.
    package var bytes: Int64
    /// Seconds.
    package var duration: Double
    /// Hz.
    package var sampleRate: Int
    /// The number of channels.
    package var channels: Int
    /// Bits per second, over the whole file.
    package var bitRate: Int
    /// The digest of the main file, if there are several.
    package var sha256: String
    /// Whether the output is a stream copy.
    package var copied: Bool
    /// Samples to skip at both ends during playback.
    package var gapless: Gapless
    /// Audio of the source that could not be decoded.
    package var damage: Damage
    /// The settings by the names of a job's fields.
    package var settings: [String: Setting]
    /// Differences of the result from the source or the job's fields.
    package var warnings: [Warning]
    /// The loudness before and after the conversion, if there was a target.
    package var loudness: LoudnessChange?
    /// The MD5 of the samples that the file declares, in hexadecimal, if the codec is FLAC.
    package var audioMD5: String?
    /// How many encoders made the output; `nil` if there can be only one.
    package var encoders: SegmentReport?
    /// The ETag of the main file in a store.
    package var etag: String?
    /// The additional files; `nil` if there are none.
    package var parts: PartsReport?
    /// The titles of a radio stream.
    package var titles: [TimedTitle]?
    /// Why the output was not made; the values of a finished output are then meaningless.
    package var error: Failure?

    /// The report of a finished output; the properties without a parameter are set afterwards.
    package init(
        url: String, format: String, codec: String, bytes: Int64, duration: Double, sampleRate: Int, channels: Int,
        bitRate: Int, sha256: String, copied: Bool, gapless: Gapless, damage: Damage, settings: [String: Setting],
        warnings: [Warning], loudness: LoudnessChange? = nil
    ) {
        self.url = url
        self.format = format
        self.codec = codec
        self.bytes = bytes
        self.duration = duration
        self.sampleRate = sampleRate
        self.channels = channels
        self.bitRate = bitRate
        self.sha256 = sha256
        self.copied = copied
        self.gapless = gapless
        self.damage = damage
        self.settings = settings
        self.warnings = warnings
        self.loudness = loudness
    }

    /// The report of an output that was skipped because its location has a file that must be kept.
    package init(format: String, skippedAt url: String) {
        self.init(format: format, error: nil)
        self.url = url
        warnings = [Warning(.outputSkipped, "the output '\(url)' exists and was not replaced")]
    }

    /// Whether this job made the output; otherwise the values of a finished output are meaningless.
    package var isMade: Bool { error == nil && !isSkipped }

    /// Whether the output was skipped because of `overwrite`.
    package var isSkipped: Bool { warnings.contains { $0.code == Warning.Code.outputSkipped.rawValue } }

    /// The report of an output that failed, or of which nothing is known.
    package init(format: String, error: Failure?) {
        self.init(
            url: "", format: format, codec: "", bytes: 0, duration: 0, sampleRate: 0, channels: 0, bitRate: 0,
            sha256: "",
            copied: false, gapless: .init(start: 0, end: 0), damage: .init(seconds: 0, events: 0), settings: [:],
            warnings: [])
        self.error = error
    }
}

/// The additional files of an output.
package struct PartsReport: Codable, Hashable, Sendable {
    /// The number of files.
    package var count: Int
    /// The total size.
    package var bytes: Int64
    /// The files, unless there are many.
    package var files: [File]

    /// The maximum number of listed files.
    package static let maxFiles = 16

    package init(count: Int, bytes: Int64, files: [File]) {
        self.count = count
        self.bytes = bytes
        self.files = files
    }

    /// One file.
    package struct File: Codable, Hashable, Sendable {
        /// The name relative to the main file's folder.
        package var name: String
        /// The size of the file.
        package var bytes: Int64
        /// The SHA-256 in lowercase hexadecimal.
        package var sha256: String

        package init(name: String, bytes: Int64, sha256: String) {
            self.name = name
            self.bytes = bytes
            self.sha256 = sha256
        }
    }
}
