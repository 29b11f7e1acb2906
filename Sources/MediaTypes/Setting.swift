/// A setting of a result: what the job asked for, and what was used.
package struct Setting: Codable, Hashable, Sendable {
    /// Nothing where the job left it open.
    package var asked: String?
    package var used: String

    package init(asked: String? = nil, used: String) {
        self.asked = asked
        self.used = used
    }
}
