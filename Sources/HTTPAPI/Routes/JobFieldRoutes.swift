import JobSchema
import Jobs

extension Route {
    /// The route that reads a job's fields.
    static let jobFields: [Route] = [
        Route(
            method: "GET", path: "/v1/jobs/{id}/fields", name: "getJobFields",
            summary: "The fields that a job was pushed with, without secrets; `hidden` names those that lack a part.",
            role: .read, pathParameters: [id], query: [.queue],
            responses: [(200, "the fields", Schema.named("ShownFields"))]
        ) { request in
            let queue = try request.queue()
            let job = try await request.job(queue)
            let fields = try await queue.fields(job.id)
            return Reply(ShownFields(fields ?? [:]))
        }
    ]
}

/// The fields of a job without what may be secret.
struct ShownFields: Encodable {
    private(set) var fields: [String: String] = [:]
    /// The fields that are missing or lack a part.
    private(set) var hidden: [String] = []

    init(_ fields: [String: String]) {
        for (name, value) in fields {
            // A refused job keeps fields that do not exist, whose values may be anything.
            let shown = JobField.named(name) == nil ? nil : Self.shown(name, value)
            self.fields[name] = shown
            if shown != value { hidden.append(name) }
        }
        hidden.sort()
    }

    /// The value without secrets; `nil` if all of it may be one.
    private static func shown(_ name: String, _ value: String) -> String? {
        switch name {
        case "source", "callback": redactedURL(value)
        case "output": OutputPath.redacted(value)
        case "source_headers", "output_headers": nil
        case "outputs": shownOutputs(value)
        default: value
        }
    }

    private static func shownOutputs(_ text: String) -> String? {
        guard case .array(let items)? = JSONBody.value(Array(text.utf8)) else { return nil }
        var isWhole = true
        let shown = items.map { item -> JSONValue in
            guard case .object(let members) = item else {
                isWhole = false
                return .null
            }
            let own = members.compactMapValues { $0.field }
            let parts = ShownFields(own)
            isWhole = isWhole && parts.hidden.isEmpty
            return .object(
                members.filter { parts.fields[$0.key] != nil || own[$0.key] == nil }.merging(
                    parts.hidden.compactMap { name in parts.fields[name].map { (name, .string($0)) } }
                ) { $1 })
        }
        // An unchanged text keeps its form.
        return isWhole ? text : String(decoding: JSONBody.bytes(JSONValue.array(shown)), as: UTF8.self)
    }
}
