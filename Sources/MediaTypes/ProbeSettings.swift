/// What a probe measures in addition to reading the headers. Each measurement decodes the whole audio track.
package struct ProbeSettings: Codable, Hashable, Sendable {
    /// Whether loudness and peaks are measured.
    package var loudness: Bool
    /// The definition of silence, if silences are reported.
    package var silence: SilenceTrim?

    package init(loudness: Bool = false, silence: SilenceTrim? = nil) {
        self.loudness = loudness
        self.silence = silence
    }

    /// The default: half a second at or below −60 dB.
    package static let usualSilence = SilenceTrim(threshold: -60, minimum: MediaTime(value: 1, timescale: 2))
}

/// A range of audio at or below a threshold.
package struct Silence: Codable, Hashable, Sendable {
    /// The exact time of the first silent sample.
    package var start: MediaTime
    /// The exact time of the first sample after the silence.
    package var end: MediaTime
    /// The start in seconds, for display.
    package var startSeconds: Double
    /// The end in seconds, for display.
    package var endSeconds: Double

    /// Derives the seconds from the exact times.
    package init(start: MediaTime, end: MediaTime) {
        self.start = start
        self.end = end
        startSeconds = start.seconds
        endSeconds = end.seconds
    }

    enum CodingKeys: String, CodingKey {
        case start, end
        case startSeconds = "start_seconds"
        case endSeconds = "end_seconds"
    }
}
