/// How many encoders made an output.
package struct SegmentReport: Codable, Hashable, Sendable {
    /// Segments of the audio, each with its own encoder.
    package var segments: Int
    /// The places where the packets of two encoders were joined.
    package var joints: Int
    /// The places where no joint was found, so that the encoder before continued.
    package var fallbacks: Int

    package init(segments: Int = 1, joints: Int = 0, fallbacks: Int = 0) {
        self.segments = segments
        self.joints = joints
        self.fallbacks = fallbacks
    }

    /// Adds the numbers of another stream of the same output.
    package static func + (left: SegmentReport, right: SegmentReport) -> SegmentReport {
        SegmentReport(
            segments: left.segments + right.segments, joints: left.joints + right.joints,
            fallbacks: left.fallbacks + right.fallbacks)
    }
}
