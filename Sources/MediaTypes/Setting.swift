/// A setting of a result: what the job requested, and what took effect.
package struct Setting: Codable, Hashable, Sendable {
    /// Nothing where the job left it open.
    package var requested: String?
    package var effective: String

    package init(requested: String? = nil, effective: String) {
        self.requested = requested
        self.effective = effective
    }
}
