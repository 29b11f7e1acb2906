/// A whole conversion: what is read from one source, and all outputs that are made from it in one decode.
package struct ConversionPlan: Codable, Hashable, Sendable {
    /// What all renditions read from the source: the range, the track and how damage is handled.
    package var source: SourceSettings
    /// At least one.
    package var renditions: [Rendition]
    /// Whether no output is published unless every rendition succeeds.
    package var isAtomic: Bool
    /// Indexes of renditions that are not written, without failing the job.
    package var skipped: Set<Int> = []
    /// The number of threads that encode; `nil` for as many as cores are free.
    package var threads: Int?

    package init(
        source: SourceSettings = .init(), renditions: [Rendition], isAtomic: Bool = false, threads: Int? = nil
    ) {
        self.threads = threads
        self.source = source
        self.renditions = renditions
        self.isAtomic = isAtomic
    }
}
