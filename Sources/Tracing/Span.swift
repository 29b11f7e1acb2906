package import JobSchema

/// A step of a job in a trace, with its times.
package struct Span: Sendable, Hashable {
    /// The name that a trace shows.
    package let name: String
    package let traceID: String
    package let spanID: String
    package let parentID: String?
    /// Nanoseconds since 1970.
    package let start: Int64
    /// Nanoseconds since 1970, not before the start.
    package let end: Int64
    package let kind: Kind
    package let attributes: [Attribute]
    /// The code and the message of an error.
    package let failure: Failure?

    /// The kind of a span in OTLP.
    package enum Kind: Int, Sendable {
        case `internal` = 1
        case client = 3
        case consumer = 5
    }

    /// A named value of a span.
    package enum Attribute: Sendable, Hashable {
        case text(String, String)
        case integer(String, Int64)
    }

    /// A span of a job's trace, with the id of the job's own span or a random one.
    package init(
        _ name: String, of trace: JobTrace, id: String = Span.randomID(), parent: String?, from start: Int64,
        to end: Int64, kind: Kind = .internal, attributes: [Attribute] = [], failure: Failure? = nil
    ) {
        self.name = name
        traceID = trace.traceID
        spanID = id
        parentID = parent
        self.start = start
        self.end = max(start, end)
        self.kind = kind
        self.attributes = attributes
        self.failure = failure
    }

    /// A random id of a span: 16 hexadecimal digits.
    package static func randomID() -> String {
        let digits = String(UInt64.random(in: 1 ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
