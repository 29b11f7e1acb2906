import JobSchema
import Jobs
import MediaTypes

extension Schema {
    /// The schemas that several routes use.
    static let components: [String: JSONValue] = [
        "Problem": object(
            [
                "type": string, "title": string, "status": integer, "code": string, "detail": string,
                "instance": string,
                "errors": array(named("ProblemPart")),
            ], optional: ["instance", "errors"]),
        "ProblemPart": object(["pointer": string, "code": string, "message": string]), "JobFields": fields,
        "Counts": counts, "Queue": queue,
    ].merging(jobComponents) { $1 }.merging(listComponents) { $1 }.merging(previewComponents) { $1 }.merging(
        Route.forms
    ) { $1 }

    /// The fields of a job, from the one table.
    static let fields: JSONValue = {
        var properties: [String: JSONValue] = [:]
        for field in JobField.all {
            var schema: [String: JSONValue] = ["description": .string(field.summary)]
            if FieldText.isJSON(field.name) {
                // Each type of its own, because a list has to say what is in it.
                schema["anyOf"] = [string, ["type": "object"], array(any), ["type": "null"]]
            } else {
                schema["type"] = ["string", "number", "boolean", "null"]
            }
            if let fallback = field.fallback { schema["x-default"] = .string(fallback) }
            properties[field.name] = .object(schema)
        }
        func set(_ name: String, _ schema: JSONValue) {
            guard case .object(var members) = schema else { return }
            let field = JobField.named(name)!
            members["description"] = .string(field.summary)
            if let fallback = field.fallback { members["x-default"] = .string(fallback) }
            properties[name] = .object(members)
        }
        set("source", source)
        set("format", word(AudioFormat.all.map(\.name)))
        for name in ["start", "end", "duration"] { set(name, time) }
        return [
            "type": "object", "properties": .object(properties), "required": ["source"],
            // Without `anyOf`, because generators of clients take that for the types of a value.
            "if": ["required": ["outputs"]], "else": ["required": ["format"]], "additionalProperties": false,
        ]
    }()

    private static let counts = object([
        "pushed": integer, "completed": integer, "failed": integer, "cancelled": integer, "retries": integer,
        "crashes": integer, "failure_rate": nullable("number"),
    ])

    private static let queue = object([
        "queue": string, "paused": boolean,
        "counts": object(Dictionary(uniqueKeysWithValues: JobState.allCases.map { ($0.rawValue, integer) })),
        "live": integer, "oldest_waiting": nullable("number"), "workers": integer, "slots": integer,
        "last": object(["minute": named("Counts"), "hour": named("Counts"), "day": named("Counts")]),
    ])
}
