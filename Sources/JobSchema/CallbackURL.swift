/// Where a callback may go, by the form of its URL alone.
package enum CallbackURL {
    /// What is wrong with one that is not valid.
    package static let rule =
        "it must begin with https:// or http:// and a host, have no blanks, and at most \(JobSpec.Limit.callbackBytes) bytes"

    /// Whether it can be called; the queue's scripts say the same.
    package static func isValid(_ url: String) -> Bool {
        ServerURL.isValidOnWeb(url, atMost: JobSpec.Limit.callbackBytes)
    }
}
