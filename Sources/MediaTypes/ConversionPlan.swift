/// A whole conversion: what is read of one source, and everything that is made of it in one decode.
package struct ConversionPlan: Codable, Hashable, Sendable {
    package var source: SourceSettings
    /// At least one.
    package var renditions: [Rendition]
    /// Whether nothing is to appear unless every rendition succeeds.
    package var isAtomic: Bool
    /// Renditions, by their number, that are refused when they are written, which is no failure.
    package var skipped: Set<Int> = []

    package init(source: SourceSettings = .init(), renditions: [Rendition], isAtomic: Bool = false) {
        self.source = source
        self.renditions = renditions
        self.isAtomic = isAtomic
    }
}
