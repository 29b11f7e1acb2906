import FoundationEssentials
import JobSchema
import Lifecycle

/// Spans in the JSON form of OTLP (opentelemetry-proto, `ExportTraceServiceRequest`): ids are hexadecimal, and 64-bit integers are
/// text.
struct TraceDocument {
    /// The attributes of the service.
    let resource: [Span.Attribute]

    /// The body of a request.
    func body(_ spans: [Span]) -> Data {
        let scope: JSONValue = [
            "scope": ["name": "respool", "version": .string(respoolVersion)],
            "spans": .array(spans.map(Self.value)),
        ]
        let document: JSONValue = [
            "resourceSpans": [
                ["resource": ["attributes": .array(resource.map(Self.value))], "scopeSpans": [scope]]
            ]
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // A document of texts and whole numbers can always be encoded.
        return (try? encoder.encode(document)) ?? Data("{}".utf8)
    }

    private static func value(_ span: Span) -> JSONValue {
        var members: [String: JSONValue] = [
            "traceId": .string(span.traceID), "spanId": .string(span.spanID), "name": .string(span.name),
            "kind": .integer(Int64(span.kind.rawValue)), "startTimeUnixNano": .string("\(span.start)"),
            "endTimeUnixNano": .string("\(span.end)"), "attributes": .array(span.attributes.map(value)),
            "flags": .integer(1),
        ]
        if let parent = span.parentID { members["parentSpanId"] = .string(parent) }
        if let failure = span.failure {
            members["status"] = ["code": .integer(2), "message": .string(failure.message)]
        }
        return .object(members)
    }

    private static func value(_ attribute: Span.Attribute) -> JSONValue {
        switch attribute {
        case .text(let name, let value): ["key": .string(name), "value": ["stringValue": .string(value)]]
        case .integer(let name, let value): ["key": .string(name), "value": ["intValue": .string("\(value)")]]
        }
    }
}
