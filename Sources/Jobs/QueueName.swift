package import JobSchema

/// The name of a queue: 1 to 64 letters, digits, `_`, `.` and `-`.
package struct QueueName: Sendable, Hashable {
    /// The name, as in keys and flags.
    package let text: String

    /// The queue of producers and workers that specify none.
    package static let `default` = QueueName(unchecked: "default")

    /// Checks the name; throws if a character is not allowed in a hash tag.
    package init(_ text: String) throws(Failure) {
        guard KeyName.isValid(text) else {
            throw Failure(
                .invalidRequest, "the queue's name is `\(text.prefix(80))`: it must be 1 to 64 of A-Z a-z 0-9 _ . -")
        }
        self.text = text
    }

    private init(unchecked text: String) { self.text = text }
}
