import JobSchema
import Lifecycle

/// The OpenAPI 3.1 document, made from the routes.
enum OpenAPIDocument {
    static func document(_ routes: [Route], hasTokens: Bool) -> JSONValue {
        var paths: [String: JSONValue] = [:]
        for (path, routes) in Dictionary(grouping: routes, by: \.path) {
            paths[path] = .object(
                Dictionary(uniqueKeysWithValues: routes.map { ($0.method.lowercased(), operation($0, hasTokens)) }))
        }
        let schemes: JSONValue =
            hasTokens
            ? [
                "bearer": ["type": "http", "scheme": "bearer"],
                "ticket": ["type": "apiKey", "in": "query", "name": .string(Parameter.ticket.name)],
            ] : .object([:])
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "respool", "version": .string(respoolVersion),
                "description": "Pushes jobs that convert audio, follows them and changes them.",
                "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
            ],
            "paths": .object(paths),
            "components": ["schemas": .object(Schema.components), "securitySchemes": schemes],
        ]
    }

    private static func operation(_ route: Route, _ hasTokens: Bool) -> JSONValue {
        var responses: [String: JSONValue] = [:]
        for response in route.responses {
            var entry: [String: JSONValue] = ["description": .string(response.summary)]
            if ![204, 304].contains(response.status) {
                var content: [String: JSONValue] = [route.contentType: ["schema": response.schema]]
                // Generators of clients know this type alone for bytes.
                if route.contentType == "*/*" { content["application/octet-stream"] = ["schema": response.schema] }
                entry["content"] = .object(content)
            }
            if let link = route.link, response.status == 201 {
                entry["links"] = [
                    "job": [
                        "operationId": .string(link),
                        "parameters": ["id": "$response.body#/id", "queue": "$request.query.queue"],
                    ]
                ]
            }
            responses["\(response.status)"] = .object(entry)
        }
        responses["default"] = [
            "description": "a problem (RFC 9457)",
            "content": ["application/problem+json": ["schema": Schema.named("Problem")]],
        ]
        var operation: [String: JSONValue] = [
            "operationId": .string(route.name), "summary": .string(route.summary), "tags": [.string(tag(route))],
            "parameters": .array(parameters(route, hasTokens)), "responses": .object(responses),
        ]
        if let body = route.body {
            operation["requestBody"] = ["required": true, "content": ["application/json": ["schema": body]]]
        }
        if !route.bodyTypes.isEmpty {
            let bytes: JSONValue = ["schema": ["type": "string", "minLength": 1]]
            let content = Dictionary(uniqueKeysWithValues: route.bodyTypes.map { ($0, bytes) })
            operation["requestBody"] = ["required": true, "content": .object(content)]
        }
        if let role = route.role {
            operation["description"] = .string("Takes the role \(role.rawValue).")
            if hasTokens {
                operation["security"] = .array([["bearer": []]] + (route.takesTicket ? [["ticket": []]] : []))
            }
        }
        return .object(operation)
    }

    /// The part of the API that a route is of.
    private static func tag(_ route: Route) -> String {
        let segments = route.segments
        return segments.count > 2 && segments[1] == "v1" ? String(segments[2]) : "service"
    }

    private static func parameters(_ route: Route, _ hasTokens: Bool) -> [JSONValue] {
        func entry(_ parameter: Parameter, _ place: String) -> JSONValue {
            [
                "name": .string(parameter.name), "in": .string(place), "required": .boolean(place != "query"),
                "description": .string(parameter.summary), "schema": parameter.schema,
            ]
        }
        let header: JSONValue = [
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "a repeated request with the same key gets the first response again, for 24 h",
            // With the quotes of a structured field or without them.
            "schema": ["type": "string", "pattern": "^(\"[!#-~]{1,128}\"|[!#-~]{1,128})$"],
        ]
        // With tokens, a ticket is one of the schemes.
        let query = route.query.filter { !(hasTokens && $0.name == Parameter.ticket.name) }
        return route.pathParameters.map { entry($0, "path") } + query.map { entry($0, "query") }
            + route.headers.map { entry($0, "header") }
            + (route.isIdempotent ? [header] : [])
    }
}
