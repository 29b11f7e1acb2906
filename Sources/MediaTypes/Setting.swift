/// A setting of an output: the requested and the effective value.
package struct Setting: Codable, Hashable, Sendable {
    /// `nil` if the job left it open.
    package var requested: String?
    /// The value that took effect.
    package var effective: String

    package init(requested: String? = nil, effective: String) {
        self.requested = requested
        self.effective = effective
    }
}
