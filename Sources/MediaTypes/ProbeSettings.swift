/// What a probe finds out beyond the headers; each makes it decode the whole audio track.
package struct ProbeSettings: Codable, Hashable, Sendable {
    /// Whether loudness and peaks are measured.
    package var loudness: Bool
    /// What counts as silence, if silences are looked for.
    package var silence: SilenceTrim?

    package init(loudness: Bool = false, silence: SilenceTrim? = nil) {
        self.loudness = loudness
        self.silence = silence
    }

    /// Half a second at or below −60 dB.
    package static let usualSilence = SilenceTrim(threshold: -60, minimum: MediaTime(value: 1, timescale: 2))
}

/// A stretch of audio at or below a threshold.
package struct Silence: Codable, Hashable, Sendable {
    /// The exact start and end; the end is the first moment that is no silence.
    package var start: MediaTime
    package var end: MediaTime
    /// Seconds, for display.
    package var startSeconds: Double
    package var endSeconds: Double

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
