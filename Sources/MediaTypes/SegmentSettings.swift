/// How an HLS stream is split into segments.
package struct SegmentSettings: Codable, Hashable, Sendable {
    /// The length of each segment except the last, rounded to whole frames.
    package var duration: MediaTime
    /// The container of every segment of the output.
    package var container: Container
    /// The bit rates of the variants; empty for a single variant.
    package var bitRates: [Int] = []

    /// The container of a segment.
    package enum Container: String, Codable, Sendable, CaseIterable {
        /// Fragmented MPEG-4.
        case fmp4
        /// MPEG-2 transport stream.
        case mpegts
    }

    package init(duration: MediaTime = MediaTime(value: 10, timescale: 1), container: Container = .fmp4) {
        self.duration = duration
        self.container = container
    }

    /// Segment lengths that a job may request.
    package static let durations = MediaTime(value: 1, timescale: 1)...MediaTime(value: 60, timescale: 1)
}

extension SegmentSettings.Container {
    /// Names of the codecs that HLS players support in such segments.
    package var codecs: [String] {
        AudioFormat.segmented.codecs.filter {
            AudioCodec.named($0)?.words.streaming?.containers.contains(self) == true
        }
    }
}
