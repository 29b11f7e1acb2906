/// What a person should know of a result that is no failure.
package struct Warning: Codable, Hashable, Sendable {
    /// For programs: one word that stays the same, such as `range_cut`; one of `Code`, unless another version wrote it.
    package private(set) var code: String
    /// One sentence for people.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code.rawValue
        self.message = message
    }
}

extension Warning {
    /// Every warning there is.
    package enum Code: String, CaseIterable, Sendable {
        case allSilent = "all_silent"
        case channelsMixed = "channels_mixed"
        case channelsUnnamed = "channels_unnamed"
        case chaptersDropped = "chapters_dropped"
        case chaptersMissing = "chapters_missing"
        case clipped
        case damaged
        case depthReduced = "depth_reduced"
        case junkSkipped = "junk_skipped"
        case layoutChanged = "layout_changed"
        case lengthUnknown = "length_unknown"
        case limited
        case loudnessUnmeasured = "loudness_unmeasured"
        case md5Mismatch = "md5_mismatch"
        /// Of an output that was not made, because something is in its place; the worker's own.
        case outputSkipped = "output_skipped"
        case picturesDropped = "pictures_dropped"
        case rangeCut = "range_cut"
        case sampleRateChanged = "sample_rate_changed"
        case samplesSanitized = "samples_sanitized"
        case sourceTruncated = "source_truncated"
        case tagsDropped = "tags_dropped"
        case titlesLeftOut = "titles_left_out"

        /// Whether it is about what a conversion found or did, and not about where its result goes.
        package var isOfConversion: Bool { self != .outputSkipped }
    }
}

extension Warning: CustomStringConvertible {
    package var description: String { message }
}
