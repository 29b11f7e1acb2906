import JobSchema

/// One source of a batch, and the location of its result.
struct BatchItem: Sendable {
    /// As typed, or the path below the typed folder.
    let source: String
    let spec: JobSpec
    /// The absolute path or the URL of the result.
    var location: String
    /// Whether it was found in a folder, so that nobody has said that it is audio.
    let isFound: Bool
    /// Sources of uncertain kind with the same location. The next one is converted if this one has no result.
    var others: [BatchItem] = []

    /// The absolute path of a local source.
    var path: String? { SourceAddress.path(ofFileURL: spec.sourceURL) }

    /// Whether neither a person nor its name says that it is audio.
    var isUncertain: Bool { isFound && !LocalOutputs.isAudio(source) }
}
