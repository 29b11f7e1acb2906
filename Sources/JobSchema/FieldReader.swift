import MediaTypes
import Text

/// Parses and checks the fields of a job one by one; every error names the field, the value and the valid values.
struct FieldReader {
    let fields: FieldTable

    init(_ fields: [String: String]) throws(Failure) {
        self.fields = FieldTable(fields)
        guard fields.count <= JobSpec.Limit.fields else {
            throw Self.invalid("the job has \(fields.count) fields, over the limit of \(JobSpec.Limit.fields)")
        }
        var bytes = 0
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            guard JobField.named(name) != nil else {
                throw Self.unknownField(name)
            }
            guard value.utf8.count <= JobSpec.Limit.valueBytes else {
                throw Self.invalid("`\(name)` is longer than \(JobSpec.Limit.valueBytes) bytes")
            }
            guard !value.utf8.contains(0) else { throw Self.invalid("`\(name)` contains a null byte") }
            bytes += name.utf8.count + value.utf8.count
        }
        guard bytes <= JobSpec.Limit.bytes else {
            throw Self.invalid("the job has \(bytes) bytes, over the limit of \(JobSpec.Limit.bytes)")
        }
    }

    func source() throws(Failure) -> String {
        guard let given = fields["source"], !given.isEmpty else {
            throw Self.invalid("`source` is missing: give the URL of the audio")
        }
        // The name of a file or of an object in a store may end in a space.
        let bare = ServerURL.trimmed(given)
        let source = OutputPath.isServed(bare) ? bare : given
        let scheme = source.utf8.prefix { $0 != UInt8(ascii: ":") }
        let isURL = source.utf8.dropFirst(scheme.count).starts(with: "://".utf8)
        let isKnown = ["http", "https", "file", "s3"].contains(Substring(scheme).lowercased())
        // Whether one of the other schemes is allowed is checked by the worker.
        guard isURL, isKnown || FileScheme(of: source) != nil else {
            throw Self.invalid(
                "`source` is `\(Self.shown(redactedURL(source)))`: it must begin with https://, http://, s3:// or file:///"
            )
        }
        if OutputPath.isObject(source) { _ = try S3Object(source, noun: "source") }
        guard !OutputPath.isServed(source) || ServerURL.hasHost(source) else {
            throw Self.invalid(
                "`source` is `\(Self.shown(redactedURL(source)))`, which has no host: give a URL as https://example.org/a.flac"
            )
        }
        return source
    }

    func priority() throws(Failure) -> JobSpec.Priority {
        guard let text = fields["priority"] else { return .normal }
        guard let priority = JobSpec.Priority(name: text) else {
            throw wrong("priority", oneOf: ["high", "normal", "low"])
        }
        return priority
    }

    func start() throws(Failure) -> JobSpec.Moment? {
        let delay = try seconds("delay", JobSpec.Limit.delay)
        guard let text = fields["not_before"] else { return delay.map { .after($0) } }
        guard delay == nil else { throw Self.invalid("`delay` and `not_before` are mutually exclusive: give one") }
        guard let instant = Instant.milliseconds(parsing: text) else {
            throw wrong("not_before", "an ISO 8601 instant, such as 2030-01-31T12:00:00Z")
        }
        return .at(instant)
    }

    /// The moment at which the job expires.
    func term(_ name: String) throws(Failure) -> JobSpec.Moment? {
        guard let text = fields[name] else { return nil }
        if let instant = Instant.milliseconds(parsing: text) { return .at(instant) }
        guard let number = Double(text), JobSpec.Limit.delay.contains(number) else {
            throw wrong(name, "an ISO 8601 instant, or seconds from admission up to a year")
        }
        return .after(.milliseconds(Int64(number * 1000)))
    }

    func attempts() throws(Failure) -> Int {
        try whole("attempts", JobSpec.Limit.attempts) ?? 5
    }

    func timeout() throws(Failure) -> Duration {
        try seconds("timeout", JobSpec.Limit.timeout) ?? .seconds(3600)
    }

    func dedup() throws(Failure) -> String? {
        guard let key = fields["dedup"] else { return nil }
        guard (1...JobSpec.Limit.dedupBytes).contains(key.utf8.count) else {
            throw Self.invalid("`dedup` has \(key.utf8.count) bytes: it must have 1 to \(JobSpec.Limit.dedupBytes)")
        }
        return key
    }

    func group() throws(Failure) -> String? {
        guard let name = fields["group"] else { return nil }
        guard KeyName.isValid(name) else { throw wrong("group", "1 to 64 of A-Z a-z 0-9 _ . -") }
        return name
    }

    func limitKey() throws(Failure) -> String? {
        guard let key = fields["limit_key"] else { return nil }
        guard KeyName.isValid(key, atMost: 128, also: ":@") else {
            throw wrong("limit_key", "1 to 128 of A-Z a-z 0-9 _ . : @ -")
        }
        return key
    }

    func callback() throws(Failure) -> String? {
        guard let url = fields["callback"] else { return nil }
        guard CallbackURL.isValid(url) else {
            throw Self.invalid("`callback` is `\(Self.shown(redactedURL(url)))`: \(CallbackURL.rule)")
        }
        return url
    }

    func traceParent() throws(Failure) -> TraceParent? {
        guard let text = fields["traceparent"] else { return nil }
        guard let parent = TraceParent(text) else {
            throw Self.invalid("`traceparent` is `\(Self.shown(text))`: \(TraceParent.rule)")
        }
        return parent
    }

    func passthrough() throws(Failure) -> Passthrough {
        guard let text = fields["passthrough"] else { return .auto }
        guard let mode = Passthrough(rawValue: text) else {
            throw wrong("passthrough", oneOf: ["auto", "never", "require"])
        }
        return mode
    }

    /// The integer value of a field; `nil` if it is not set.
    func whole(_ name: String, _ bounds: ClosedRange<Int>) throws(Failure) -> Int? {
        guard let text = fields[name] else { return nil }
        guard let number = Int(text), bounds.contains(number) else {
            throw wrong(name, "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)")
        }
        return number
    }

    /// The error for a field's invalid value.
    func wrong(_ name: String, _ right: String, code: ErrorCode = .invalidRequest) -> Failure {
        Failure(code, "`\(name)` is `\(Self.shown(fields[name] ?? ""))`: it must be \(right)")
    }

    /// The error for an unknown field.
    static func unknownField(_ name: String) -> Failure {
        let hint = Spelling.hint(for: name, among: JobField.all.map(\.name))
        return invalid("unknown field `\(shown(name))`\(hint); the fields are listed by `respool enqueue --help`")
    }

    /// The error for a value that is not one of the valid words.
    func wrong(_ name: String, oneOf words: [String]) -> Failure {
        let text = fields[name] ?? ""
        let right = words.count > 3 ? "one of \(words.joined(separator: " "))" : Self.alternatives(words)
        let hint = Spelling.hint(for: text, among: words)
        return Self.invalid("`\(name)` is `\(Self.shown(text))`\(hint): it must be \(right)")
    }

    /// Joins words as `a`, `a or b` or `a, b or c`.
    private static func alternatives(_ words: [String]) -> String {
        let head = words.dropLast().joined(separator: ", ")
        return (head.isEmpty ? "" : head + " or ") + (words.last ?? "")
    }

    static func invalid(_ message: String) -> Failure { Failure(.invalidRequest, message) }

    /// A value cut and escaped for a message.
    static func shown(_ value: String) -> String { PrintableText.shown(value) }

    private func seconds(_ name: String, _ bounds: ClosedRange<Double>) throws(Failure) -> Duration? {
        guard let text = fields[name] else { return nil }
        guard let number = Double(text), bounds.contains(number) else {
            throw wrong(name, "seconds from \(Int(bounds.lowerBound)) to \(Int(bounds.upperBound))")
        }
        return .milliseconds(Int64((number * 1000).rounded()))
    }
}
