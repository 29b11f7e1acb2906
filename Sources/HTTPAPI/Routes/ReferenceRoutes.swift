import HTTPServer
import JobSchema
import MediaTypes

extension Route {
    /// The routes that describe the service.
    static let reference: [Route] = [
        Route(
            method: "GET", path: "/v1/formats", name: "listFormats", summary: "The formats and their codecs.",
            role: .read,
            responses: [
                (
                    200, "the formats",
                    Schema.object([
                        "formats": Schema.array(Schema.named("Format"))
                    ])
                )
            ]
        ) { _ throws(Problem) in
            let formats = AudioFormat.all.map { format -> JSONValue in
                [
                    "format": .string(format.name), "extension": .string(format.fileExtension),
                    "media_type": .string(format.mediaType), "summary": .string(format.summary),
                    "codecs": .array(format.codecs.map { .string($0) }),
                ]
            }
            return Reply(["formats": formats])
        },
        Route(
            method: "GET", path: "/v1/fields", name: "getFields", summary: "The JSON Schema of a job's fields.",
            role: .read, responses: [(200, "the schema", Schema.any)]
        ) { _ throws(Problem) in
            Reply(Schema.fields)
        },
        Route(
            method: "GET", path: "/v1/openapi.json", name: "getDocument", summary: "This document.", role: nil,
            responses: [(200, "the document", Schema.any)]
        ) { request in
            Reply(status: 200, contentType: "application/json", body: request.context.document)
        },
    ]

    /// The routes for health checks.
    static let probes: [Route] = [
        Route(
            method: "GET", path: "/healthz", name: "getHealth", summary: "Whether the server runs.", role: nil,
            responses: [(200, "it runs", status)]
        ) { _ throws(Problem) in
            isRunning
        },
        Route(
            method: "GET", path: "/readyz", name: "getReadiness", summary: "Whether Redis responds.", role: nil,
            responses: [(200, "it responds", status)]
        ) { request in
            try readiness(request.context)
        },
    ]

    /// The response to a health check, which waits for nothing; `nil` for another path.
    static func probe(_ path: String, _ context: APIContext) throws(Problem) -> HTTPResponse? {
        guard RouteTable.probes.contains(path) else { return nil }
        let reply = path == "/healthz" ? isRunning : try readiness(context)
        return HTTPResponse(status: reply.status, contentType: reply.contentType, reply.body)
    }

    private static var isRunning: Reply { Reply(["status": "ok"]) }

    private static func readiness(_ context: APIContext) throws(Problem) -> Reply {
        guard context.isReady() else {
            var problem = Problem(503, "redis_unavailable", "Redis does not respond")
            problem.headers = [("Retry-After", "1")]
            throw problem
        }
        return Reply(["status": "ok"])
    }

    private static let status = Schema.object(["status": Schema.string])
}
