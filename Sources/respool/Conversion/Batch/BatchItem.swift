import JobSchema

/// One source of a batch, and the location of its result.
struct BatchItem: Sendable {
    /// As typed, or the path below the typed folder.
    let source: String
    let spec: JobSpec
    /// The absolute path or the URL of the result.
    let location: String
    /// Whether it was found in a folder, so that nobody has said that it is audio.
    let isFound: Bool

    /// The absolute path of a local source.
    var path: String? { SourceAddress.path(ofFileURL: spec.sourceURL) }
}
