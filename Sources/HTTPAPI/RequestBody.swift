import JobSchema

/// The body of a request: its schema, and what is read from it.
protocol RequestBody: Sendable {
    /// The schema that bodies are checked by.
    static var schema: JSONValue { get }
    /// The schema in the document, which may tell forms of the body apart.
    static var documentedSchema: JSONValue { get }
    /// Reads the members of a body that follows the schema.
    init(_ members: [String: JSONValue]) throws(Problem)
}

extension RequestBody {
    static var documentedSchema: JSONValue { schema }
}

extension Route {
    /// An operation whose handler gets the body, checked and read. Only this reads a body as JSON.
    init<Body: RequestBody>(
        method: String, path: String, name: String, summary: String, role: Role?, pathParameters: [Parameter] = [],
        query: [Parameter] = [], body: Body.Type, maxBodyBytes: Int, isOfWholeQueue: Bool = false,
        isIdempotent: Bool = false, responses: [(status: Int, summary: String, schema: JSONValue)],
        link: String? = nil, handler: @escaping @Sendable (APIRequest, Body) async throws -> Reply
    ) {
        self.init(
            method: method, path: path, name: name, summary: summary, role: role, pathParameters: pathParameters,
            query: query, body: Body.documentedSchema, maxBodyBytes: maxBodyBytes, isIdempotent: isIdempotent,
            responses: responses, link: link
        ) { request in
            // A token that is not for all jobs of the queue learns that first.
            if isOfWholeQueue { _ = try request.wholeQueue() }
            let value = try request.json()
            var check = SchemaCheck()
            check.check(value, Body.schema)
            guard check.parts.isEmpty, case .object(let members) = value else { throw Problem.wrong(check.parts) }
            return try await handler(request, try Body(members))
        }
    }
}

extension APIRequest {
    fileprivate func json() throws(Problem) -> JSONValue {
        guard !JSONBody.isTooComplex(body) else {
            throw Problem(413, "too_large", "the body has more than \(JSONBody.maxValues) values: send less at once")
        }
        guard JSONBody.isUTF8(body), let value = JSONBody.value(body) else {
            throw Problem(400, "malformed_json", "the body is not JSON in UTF-8")
        }
        if let name = JSONBody.repeatedName(body) {
            throw Problem(400, "malformed_json", "an object of the body repeats the name `\(FieldText.shown(name))`")
        }
        return value
    }
}
