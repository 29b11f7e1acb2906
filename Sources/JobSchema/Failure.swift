/// Why a job or a request failed: a code for programs, a message for people, and whether another attempt may succeed.
package struct Failure: Error, Codable, Hashable, Sendable {
    /// One of the documented error codes.
    package let code: ErrorCode
    /// The message for people: what happened, the offending value, what to do.
    package let message: String
    /// Whether another attempt may succeed.
    package let retryable: Bool
    /// Seconds that the source's server asked to wait (`Retry-After`).
    package let retryAfter: Double?
    /// All wrong fields, as many as the limits allow, if the job was refused for them.
    package let fields: [WrongField]?

    /// The maximum number of wrong fields.
    package static let maxFields = 16
    /// The maximum size of the wrong fields as JSON.
    package static let maxFieldBytes = 4 << 10

    /// Creates a failure that is retryable as its code says, unless `retryable` overrides it.
    package init(
        _ code: ErrorCode, _ message: String, retryable: Bool? = nil, retryAfter: Double? = nil,
        fields: [WrongField]? = nil
    ) {
        self.code = code
        self.message = message
        self.retryable = retryable ?? code.isRetryable
        self.retryAfter = retryAfter
        self.fields = fields
    }

    /// The failure of one wrong field.
    package init(field: String, _ message: String, code: ErrorCode = .invalidRequest) {
        self.init(code, message, fields: [WrongField(field: field, message: message)])
    }

    /// What is wrong with the fields after the first, which the message names.
    package var otherFaults: [String] { (fields ?? []).dropFirst().map(\.message) }

    /// The same failure with the number of the output that failed, for a job with several.
    package func of(output index: Int, _ others: String = "") -> Failure {
        Failure(code, "`outputs[\(index)]`: \(message)\(others)", retryable: retryable, retryAfter: retryAfter)
    }

    /// The failure of an output whose location has a file that must not be replaced.
    package static func outputExists(_ location: String) -> Failure {
        Failure(.outputExists, "the output '\(location)' exists: remove it, or set `overwrite` to `replace` or `skip`")
    }

    private enum CodingKeys: String, CodingKey {
        case code, message, retryable, fields
        case retryAfter = "retry_after"
    }
}

extension Failure: CustomStringConvertible {
    package var description: String { message }
}
