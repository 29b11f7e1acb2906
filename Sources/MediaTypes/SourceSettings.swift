/// What is read of a source, and how.
package struct SourceSettings: Codable, Hashable, Sendable {
    package var range: TimeRange
    package var track: TrackChoice
    package var damage: DamagePolicy
    /// The character set of tags that are wrongly declared as Latin-1, by iconv's name; nothing to believe the tags.
    package var tagEncoding: String?
    /// How much of the dynamic range compression that AC-3 and E-AC-3 carry is applied, from 0 to 1; nothing for all of it.
    package var drc: Double?
    /// Set by the process that reads.
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
    /// The one that a player would take.
    case best
    /// By its place among the audio tracks, from 1.
    case number(Int)
    /// By any code of its language: `jpn`, `ja`, `de-AT`.
    case language(String)
    /// Every one, for containers that hold several.
    case all
}

/// What becomes of a job whose source is damaged.
package enum DamagePolicy: String, Codable, Hashable, Sendable, CaseIterable {
    /// It fails if more is lost than an ear would pass over.
    case fail
    /// It takes what there is, and says what is lost.
    case accept
}
