import JobSchema
import Jobs

extension Route {
    /// The routes that change one job.
    static let jobActions: [Route] = [
        Route(
            method: "POST", path: "/v1/jobs/{id}/cancel", name: "cancelJob",
            summary: "Cancels a job: a waiting one at once, a running one within about a second.", role: .operate,
            pathParameters: [id], query: [.queue], responses: [(200, "what was done", done)]
        ) { request in
            let queue = try request.queue()
            let id = try await request.job(queue).id
            switch try await queue.cancel([id])[0] {
            case .cancelled: return Reply(Done(id: id, result: "cancelled"), subjects: [id])
            case .requested: return Reply(Done(id: id, result: "requested"), subjects: [id])
            case .tooLate(.running): throw Problem(409, "too_late", "the job's result is already being published")
            case .tooLate(let state): throw Problem(409, "too_late", "the job is \(state.rawValue)")
            case .unknown: throw Problem.noJob(id)
            }
        },
        Route(
            method: "POST", path: "/v1/jobs/{id}/retry", name: "retryJob",
            summary: "Runs a failed or cancelled job again, with changed fields; null removes one.", role: .operate,
            pathParameters: [id], query: [.queue],
            body: Retry.self, maxBodyBytes: 128 << 10, responses: [(200, "what was done", done)]
        ) { request, retry in
            let changes = retry.changes
            try request.checkKeys(changes, at: "/set")
            let queue = try request.queue()
            let job = try await request.job(queue)
            let id = job.id
            await request.keepUploads(of: [job])
            switch try await queue.retry([id], changes: changes)[0]
            {
            case .retried: return Reply(Done(id: id, result: "retried"), subjects: [id])
            case .wrongState(let state):
                throw Problem(
                    409, "wrong_state", "the job is \(state.rawValue); only failed and cancelled jobs can be retried")
            case .dedupHeld(let other):
                let isVisible = (try? await request.job(queue, id: other)) != nil
                throw Problem(409, "dedup_held", "\(isVisible ? "job \(other)" : "another job") holds its dedup key")
            case .invalid(let failure): throw Problem.wrong(Problem.Part.all(failure, at: "/set"))
            case .unknown: throw Problem.noJob(id)
            }
        },
        Route(
            method: "DELETE", path: "/v1/jobs/{id}", name: "deleteJob", summary: "Deletes a job that is not running.",
            role: .operate, pathParameters: [id], query: [.queue], responses: [(200, "what was done", done)]
        ) { request in
            let queue = try request.queue()
            let id = try await request.job(queue).id
            switch try await queue.remove(id) {
            case .removed: return Reply(Done(id: id, result: "deleted"), subjects: [id])
            case .wrongState(.queued):
                var problem = Problem(503, "overloaded", "the job is behind many others in the inbox: repeat it later")
                problem.headers = [("Retry-After", "1")]
                throw problem
            case .wrongState(let state):
                throw Problem(409, "wrong_state", "the job is \(state.rawValue): cancel it first")
            case .unknown: throw Problem.noJob(id)
            }
        },
    ]

    private static let done = Schema.object([
        "id": Schema.string, "result": Schema.word(["cancelled", "requested", "retried", "deleted"]),
    ])

    private struct Done: Encodable {
        let id: String
        let result: String
    }

    /// The fields that a retry may change.
    static let changeable: [String: JSONValue] = {
        guard case .object(let schema) = Schema.fields, case .object(let properties)? = schema["properties"] else {
            return [:]
        }
        return properties.filter { !JobQueue.unchangeable.contains($0.key) }
    }()

    /// The changed fields of a retry; an empty text removes one.
    static func changes(in set: JSONValue?) throws(Problem) -> [String: String] {
        guard let set else { return [:] }
        var changes = try FieldText.fields(set, at: "/set")
        if case .object(let values) = set { for name in values.keys where changes[name] == nil { changes[name] = "" } }
        var parts: [Problem.Part] = []
        for name in changes.keys.sorted() {
            let pointer = "/set/\(FieldText.escaped(name))"
            if JobField.named(name) == nil {
                parts.append(.init(pointer, "there is no field `\(FieldText.shown(name))`"))
            } else if JobQueue.unchangeable.contains(name) {
                parts.append(.init(pointer, "a retry cannot change `\(name)`: push the job again"))
            }
        }
        guard parts.isEmpty else { throw Problem.wrong(parts) }
        return changes
    }
}

/// The changed fields of a retry.
private struct Retry: RequestBody {
    let changes: [String: String]

    static let schema: JSONValue = [
        "type": "object", "additionalProperties": false,
        "properties": [
            "set": [
                "type": "object", "additionalProperties": false, "properties": .object(Route.changeable),
            ]
        ],
    ]

    init(_ members: [String: JSONValue]) throws(Problem) { changes = try Route.changes(in: members["set"]) }
}

extension Problem {
    static func noJob(_ id: String) -> Problem {
        Problem(404, "not_found", "there is no job \(id): it may have been deleted")
    }
}
