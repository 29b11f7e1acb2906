/// A warning about an output that did not fail.
package struct Warning: Codable, Hashable, Sendable {
    /// A stable identifier for programs, such as `range_cut`. It is a `Code`, unless another version wrote it.
    package private(set) var code: String
    /// A human-readable message of one sentence.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code.rawValue
        self.message = message
    }
}

extension Warning {
    /// The codes of all warnings.
    package enum Code: String, CaseIterable, Sendable {
        case allSilent = "all_silent"
        case channelsMixed = "channels_mixed"
        case channelsUnnamed = "channels_unnamed"
        case chaptersDropped = "chapters_dropped"
        case chaptersMissing = "chapters_missing"
        case clipped
        case damaged
        case depthReduced = "depth_reduced"
        case fileFollows = "file_follows"
        case junkSkipped = "junk_skipped"
        case layoutChanged = "layout_changed"
        case lengthUnknown = "length_unknown"
        case limited
        case loudnessUnmeasured = "loudness_unmeasured"
        case md5Mismatch = "md5_mismatch"
        /// An output was not made because its location is occupied. Only the worker reports it.
        case outputSkipped = "output_skipped"
        case picturesDropped = "pictures_dropped"
        case rangeCut = "range_cut"
        case sampleRateChanged = "sample_rate_changed"
        case samplesSanitized = "samples_sanitized"
        case sourceTruncated = "source_truncated"
        case tagsDropped = "tags_dropped"
        case titlesLeftOut = "titles_left_out"

        /// Whether the warning is about the conversion, and not about the output's location.
        package var isOfConversion: Bool { self != .outputSkipped }
    }
}

extension Warning: CustomStringConvertible {
    package var description: String { message }
}
