/// What becomes of an output where something is already that it would replace.
package enum Overwrite: String, Codable, CaseIterable, Sendable {
    case replace
    /// What is there stays, and the output is not made.
    case skip
    /// What is there stays, and the job fails.
    case fail
}
