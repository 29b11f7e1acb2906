/// What is read from a source, and how.
package struct SourceSettings: Codable, Hashable, Sendable {
    /// The part of the source to convert, by time.
    package var range: TimeRange
    /// The audio track to read, if the source has several.
    package var track: TrackChoice
    /// Whether a damaged source fails the job.
    package var damage: DamagePolicy
    /// The character set of tags that are wrongly declared as Latin-1, by iconv's name; `nil` to trust the declaration.
    package var tagEncoding: String?
    /// How much of the dynamic range compression of AC-3 and E-AC-3 is applied, from 0 to 1; `nil` for all of it.
    package var drc: Double?
    /// Set by the process that reads the source.
    package var limits = SourceLimits()

    package init(
        range: TimeRange = .whole, track: TrackChoice = .best, damage: DamagePolicy = .fail, tagEncoding: String? = nil,
        drc: Double? = nil
    ) {
        self.range = range
        self.track = track
        self.damage = damage
        self.tagEncoding = tagEncoding
        self.drc = drc
    }
}

/// Which of a source's audio tracks is read.
package enum TrackChoice: Codable, Hashable, Sendable {
    /// The track that a player selects by default.
    case best
    /// By the number among the audio tracks, from 1.
    case number(Int)
    /// By any code of its language: `jpn`, `ja`, `de-AT`.
    case language(String)
    /// All tracks, for containers that support several.
    case all
}

/// How a job handles a damaged source.
package enum DamagePolicy: String, Codable, Hashable, Sendable, CaseIterable {
    /// The job fails if more is lost than a listener would overlook.
    case fail
    /// The job converts what can be decoded, and reports what is lost.
    case accept
}
