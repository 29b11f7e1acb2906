/// A field of a job that is wrong.
package struct WrongField: Codable, Hashable, Sendable {
    /// The name; in one of several outputs, as in `outputs[1].bit_rate`.
    package let field: String
    /// What is wrong with it.
    package let message: String

    package init(field: String, message: String) {
        self.field = field
        self.message = message
    }
}
