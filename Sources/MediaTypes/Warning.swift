/// What a person should know of a result that is no failure.
package struct Warning: Codable, Hashable, Sendable {
    /// For programs: one word that stays the same, such as `range_cut`.
    package var code: String
    /// One sentence for people.
    package var message: String

    package init(_ code: String, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension Warning: CustomStringConvertible {
    package var description: String { message }
}
