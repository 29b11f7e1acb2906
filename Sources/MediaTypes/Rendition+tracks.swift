extension Rendition {
    /// Validates the settings that are not supported with `track` `all`.
    package func checkEveryTrack() throws(FormatProblem) {
        guard AudioFormat.named(format)?.holdsSeveralTracks == true else {
            let several = AudioFormat.all.filter(\.holdsSeveralTracks).map(\.name).joined(separator: " ")
            throw FormatProblem(
                "track", "`track` is `all`, and \(format) supports one track; the formats for several are \(several)")
        }
        guard passthrough != .require else {
            throw FormatProblem(
                "passthrough", "`passthrough` is `require`, and `track` `all` encodes every track; give one track")
        }
        let ofOne = [
            ("loudness", sound.loudness != nil), ("trim_silence", sound.trimSilence != nil),
            ("replay_gain", sound.replayGain != nil),
        ]
        if let (name, _) = ofOne.first(where: \.1) {
            throw FormatProblem(
                name, "`\(name)` requires a single track, and `track` is `all`; give one track, or leave it out")
        }
    }
}
