import Text

// The fields for when and how often the job runs.
extension FieldReader {
    func start() -> JobSpec.Moment? {
        guard let text = fields["not_before"] else { return seconds("delay").map { .after($0) } }
        if fields["delay"] != nil { refuse("delay", "`delay` and `not_before` are mutually exclusive: give one") }
        return Instant.milliseconds(parsing: text).map { .at($0) }
    }

    /// An instant, or seconds from admission.
    static func moment(_ text: String) -> JobSpec.Moment? {
        if let instant = Instant.milliseconds(parsing: text) { return .at(instant) }
        guard let number = FieldType.decimal(text), JobSpec.Limit.delay.contains(number) else { return nil }
        return .after(.milliseconds(Int64(number * 1000)))
    }

    func dedup() -> String? {
        guard let key = fields["dedup"] else { return nil }
        if !(1...JobSpec.Limit.dedupBytes).contains(key.utf8.count) {
            refuse("dedup", "`dedup` has \(key.utf8.count) bytes: it must have 1 to \(JobSpec.Limit.dedupBytes)")
        }
        return key
    }

    func callback() -> String? {
        guard let url = fields["callback"] else { return nil }
        if !CallbackURL.isValid(url) {
            // The path may be a secret, as in those of chat services.
            let host = redactedURL(url).split(separator: "/", omittingEmptySubsequences: false)
                .prefix(url.contains("://") ? 3 : 1).joined(separator: "/")
            refuse("callback", "`callback` is `\(Self.shown(host))`: \(CallbackURL.rule)")
        }
        return url
    }
}
