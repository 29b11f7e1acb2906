import JobSchema
import Jobs
import MediaTypes

extension Route {
    /// The route that makes previews.
    static let previews: [Route] = [
        Route(
            method: "POST", path: "/v1/previews", name: "createPreview",
            summary:
                "Pushes a job that makes audio for a browser, peaks or a spectrogram of a source or an output; its file is kept for an hour.",
            role: .push, query: [.queue],
            body: PreviewRequest.self, maxBodyBytes: 64 << 10,
            responses: [
                (201, "the job", Schema.named("PushedJob")),
                (200, "the job that has made the same preview, or makes it now", Schema.named("PushedJob")),
            ], link: "getJob"
        ) { request, wanted in
            try await Preview(request, wanted).run()
        }
    ]
}

extension Schema {
    /// The bodies of requests for previews.
    static let previewComponents: [String: JSONValue] = [
        "PreviewOfSource": preview(
            ["source": source, "start": time, "end": time], required: ["source"]),
        "PreviewOfJobSource": preview(
            ["job": Route.id.schema, "of": ["const": "source"]], required: ["job", "of"]),
        "PreviewOfOutput": preview(
            [
                "job": Route.id.schema, "of": ["const": "output"],
                "output": Parameter("output", .whole(Route.outputNumbers), "").schema,
            ], required: ["job", "of"]),
    ]

    private static func preview(_ properties: [String: JSONValue], required: [JSONValue]) -> JSONValue {
        let own: [String: JSONValue] = [
            "kind": word(PreviewRequest.Kind.allCases.map(\.rawValue)),
            "points": Parameter("points", .whole(PreviewRequest.points), "").schema,
            "size": ["type": "string", "pattern": .string(sizePattern)],
        ]
        return [
            "type": "object", "properties": .object(own.merging(properties) { $1 }),
            "required": .array(["kind"] + required), "additionalProperties": false,
        ]
    }

    /// Up to 4000x2000.
    private static let sizePattern =
        "^([1-9][0-9]{0,2}|[1-3][0-9]{3}|4000)x([1-9][0-9]{0,2}|1[0-9]{3}|2000)$"
}
