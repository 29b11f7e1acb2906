/// How a stream of segments (HLS) is cut.
package struct SegmentSettings: Codable, Hashable, Sendable {
    /// The length of each segment but the last, as near as whole frames come.
    package var duration: MediaTime
    package var container: Container
    /// The bit rates of the variants among which players choose; nothing for a stream of one.
    package var bitRates: [Int] = []

    /// What each segment is.
    package enum Container: String, Codable, Sendable, CaseIterable {
        /// A fragment of MPEG-4.
        case fmp4
        /// MPEG-2 transport stream.
        case mpegts
    }

    package init(duration: MediaTime = MediaTime(value: 10, timescale: 1), container: Container = .fmp4) {
        self.duration = duration
        self.container = container
    }

    /// Lengths that a job may ask for.
    package static let durations = MediaTime(value: 1, timescale: 1)...MediaTime(value: 60, timescale: 1)
}

extension SegmentSettings.Container {
    /// Names of the codecs that players of HLS take in such segments.
    package var codecs: [String] {
        switch self {
        case .fmp4: ["aac", "mp3", "alac", "flac", "opus", "ac3", "eac3"]
        case .mpegts: ["aac", "mp3", "ac3", "eac3"]
        }
    }
}
