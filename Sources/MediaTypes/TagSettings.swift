/// What becomes of a source's tags, pictures and chapters; everything is carried over unless set here.
package struct TagSettings: Codable, Hashable, Sendable {
    /// Tags to set, by their names in a job; an empty value removes one.
    package var metadata: [String: String]

    package init(metadata: [String: String] = [:]) {
        self.metadata = metadata
    }
}
