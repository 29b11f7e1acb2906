package import MediaTypes

/// What became of one output; the element of a job's `outputs`.
package struct OutputReport: Hashable, Sendable {
    /// Where the result is, or was to be.
    package var url: String
    /// The format as a job names it.
    package var format: String
    /// The codec as a job names it.
    package var codec: String
    /// Of the main file, where there are several.
    package var bytes: Int64
    /// Seconds.
    package var duration: Double
    /// Hz.
    package var sampleRate: Int
    /// The number of channels.
    package var channels: Int
    /// Bits a second, over the whole file.
    package var bitRate: Int
    /// Of the main file, where there are several.
    package var sha256: String
    /// Whether packets were copied without encoding.
    package var copied: Bool
    /// Samples that players skip at both ends.
    package var gapless: Gapless
    /// Audio of the source that could not be decoded.
    package var damage: Damage
    /// By their names in a job.
    package var settings: [String: Setting]
    /// Where the result differs from the source or from the job.
    package var warnings: [Warning]
    /// What the loudness was and became, where there was a target for it.
    package var loudness: LoudnessChange?
    /// The MD5 of the samples that the file declares, in hexadecimal digits, where its codec is FLAC.
    package var audioMD5: String?
    /// What a store calls the main file's content.
    package var etag: String?
    /// The files beside the main one, if there are any.
    package var parts: PartsReport?
    /// Of a radio stream.
    package var titles: [TimedTitle]?
    /// Why there is no such output; what only a finished one has means nothing then.
    package var error: Failure?

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

    /// The report of an output that was not made, because something is where it would go.
    package init(format: String, skippedAt url: String) {
        self.init(format: format, error: nil)
        self.url = url
        warnings = [Warning(.outputSkipped, "the output '\(url)' exists and was left as it is")]
    }

    /// Whether there is such an output, made by this job; what only that has means nothing otherwise.
    package var isMade: Bool { error == nil && !isSkipped }

    /// Whether `overwrite` left an existing file in place of this output.
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

/// The files of an output beside its main one.
package struct PartsReport: Codable, Hashable, Sendable {
    /// The number of files.
    package var count: Int
    /// All of them together.
    package var bytes: Int64
    /// Each of them, unless there are many.
    package var files: [File]

    /// How many files are listed.
    package static let maxFiles = 16

    package init(count: Int, bytes: Int64, files: [File]) {
        self.count = count
        self.bytes = bytes
        self.files = files
    }

    /// One file.
    package struct File: Codable, Hashable, Sendable {
        /// Relative to the main file's folder.
        package var name: String
        /// The size of the file.
        package var bytes: Int64
        /// The file's digest in lowercase hexadecimal digits.
        package var sha256: String

        package init(name: String, bytes: Int64, sha256: String) {
            self.name = name
            self.bytes = bytes
            self.sha256 = sha256
        }
    }
}
