/// What to do if the output's location already has a file.
package enum Overwrite: String, Codable, CaseIterable, Sendable {
    case replace
    /// Keeps the existing file; the output is not made.
    case skip
    /// Keeps the existing file; the job fails.
    case fail
}
