/// Checks the form of a callback's URL.
package enum CallbackURL {
    /// The rule that a valid URL follows, for messages.
    package static let rule =
        "it must begin with https:// or http:// and have a host, no spaces and at most \(JobSpec.Limit.callbackBytes) bytes"

    /// Whether the URL is valid for a callback; the queue's scripts use the same rule.
    package static func isValid(_ url: String) -> Bool {
        ServerURL.isValidOnWeb(url, atMost: JobSpec.Limit.callbackBytes)
    }
}
