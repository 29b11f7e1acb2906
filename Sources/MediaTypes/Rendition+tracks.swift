extension Rendition {
    /// The settings that are not supported with `track` `all`.
    package var everyTrackProblems: [FormatProblem] {
        guard let format = AudioFormat.named(format) else { return [] }
        var problems: [FormatProblem] = []
        if !format.holdsSeveralTracks {
            let several = AudioFormat.all.filter(\.holdsSeveralTracks).map(\.name).joined(separator: " ")
            problems.append(
                FormatProblem(
                    "track",
                    "`track` is `all`, and \(format.name) supports one track; the formats for several are \(several)"))
        }
        if passthrough == .require {
            problems.append(
                FormatProblem(
                    "passthrough", "`passthrough` is `require`, and `track` `all` encodes every track; give one track"))
        }
        let ofOne = [
            ("loudness", sound.loudness != nil), ("trim_silence", sound.trimSilence != nil),
            ("replay_gain", sound.replayGain != nil),
        ]
        return problems
            + ofOne.filter(\.1).map { name, _ in
                FormatProblem(
                    name, "`\(name)` requires a single track, and `track` is `all`; give one track, or leave it out")
            }
    }
}
