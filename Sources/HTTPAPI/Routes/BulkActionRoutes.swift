import JobSchema
import Jobs

extension Route {
    /// The route that changes all jobs of a filter.
    static let bulkActions: [Route] = [
        Route(
            method: "POST", path: "/v1/jobs/actions", name: "changeJobs",
            summary:
                "Retries, cancels or deletes the jobs that match a filter: first a dry run, then with its `confirm`.",
            role: .operate, query: [.queue], body: BulkBody.self,
            maxBodyBytes: 128 << 10,
            responses: [
                (
                    200, "what matched or what was done; with `confirm`, there may be more",
                    Schema.object([
                        "matched": Schema.integer, "scanned": Schema.integer, "more": Schema.boolean,
                        "sample": Schema.array(Schema.named("Job")),
                        "results": Schema.array(Schema.object(["id": Schema.string, "result": Schema.string])),
                        "confirm": Schema.nullable("string"),
                    ])
                )
            ]
        ) { request, body in
            try await BulkAction(request, body).run()
        }
    ]

    /// The forms of the body: with and without changed fields, as a dry run and confirmed.
    static let forms: [String: JSONValue] = [
        "RetryDryRun": form(isRetry: true, isDry: true), "ConfirmedRetry": form(isRetry: true, isDry: false),
        "ActionDryRun": form(isRetry: false, isDry: true), "ConfirmedAction": form(isRetry: false, isDry: false),
    ]

    private static func form(isRetry: Bool, isDry: Bool) -> JSONValue {
        var properties: [String: JSONValue] = [
            "action": Schema.word(isRetry ? ["retry"] : ["cancel", "delete"]),
            "filter": [
                "type": "object", "additionalProperties": false, "minProperties": 1,
                "properties": .object(
                    Dictionary(uniqueKeysWithValues: JobSearch.filters.map { ($0.name, $0.schema) })),
            ],
            "limit": BulkBody.limit,
        ]
        if isRetry {
            properties["set"] = [
                "type": "object", "additionalProperties": false, "properties": .object(changeable),
            ]
        }
        properties["dry_run"] = ["type": "boolean", "enum": [.boolean(isDry)]]
        if !isDry { properties["confirm"] = Schema.string }
        return [
            "type": "object", "additionalProperties": false, "properties": .object(properties),
            "required": ["action", "filter", isDry ? "dry_run" : "confirm"],
        ]
    }
}
