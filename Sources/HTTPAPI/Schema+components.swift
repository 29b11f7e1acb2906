import JobSchema
import Jobs

extension Schema {
    /// The schemas that several routes use.
    static let components: [String: JSONValue] = [
        "Problem": object(
            [
                "type": string, "title": string, "status": integer, "code": string, "detail": string,
                "instance": string,
                "errors": array(object(["pointer": string, "code": string, "message": string])),
            ], optional: ["instance", "errors"]),
        "Job": job, "JobFields": fields, "Counts": counts, "Queue": queue,
    ]

    /// The JSON form of a job, as `respool status --json` prints it.
    private static let job = object([
        "id": string, "state": word(JobState.allCases.map(\.rawValue)), "phase": nullable("string"),
        "progress": nullable("number"), "position": nullable("number"), "duration": nullable("number"),
        "speed": nullable("number"), "estimated": boolean, "eta": nullable("number"), "attempt": integer,
        "attempts": integer, "crashes": integer, "priority": string, "group": nullable("string"),
        "source": nullable("string"), "format": nullable("string"), "worker": nullable("string"),
        "created_at": string, "started_at": nullable("string"), "finished_at": nullable("string"),
        "due_at": nullable("string"), "output_progress": nullable("array"), "outputs": nullable("array"),
        "error": nullable("object"),
    ])

    /// The fields of a job, from the one table.
    static let fields: JSONValue = {
        var properties: [String: JSONValue] = [:]
        for field in JobField.all {
            let types: JSONValue =
                FieldText.isJSON(field.name)
                ? ["string", "number", "boolean", "null", "object", "array"] : ["string", "number", "boolean", "null"]
            var schema: [String: JSONValue] = ["type": types, "description": .string(field.summary)]
            if let fallback = field.fallback { schema["x-default"] = .string(fallback) }
            properties[field.name] = .object(schema)
        }
        properties["source"] = [
            "type": "string", "minLength": 1, "description": .string(JobField.named("source")!.summary),
        ]
        return [
            "type": "object", "properties": .object(properties), "required": ["source"],
            "anyOf": [["required": ["format"]], ["required": ["outputs"]]], "additionalProperties": false,
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
