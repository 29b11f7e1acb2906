import JobSchema
import Jobs

extension Route {
    /// The routes that change when a job runs.
    static let jobChanges: [Route] = [
        Route(
            method: "PATCH", path: "/v1/jobs/{id}", name: "changeJob",
            summary: "Changes the priority of a job that waits or is delayed, or when it may start.", role: .operate,
            pathParameters: [id], query: [.queue],
            body: JobChange.self, maxBodyBytes: 4 << 10, responses: [(200, "the job", Schema.named("Job"))]
        ) { request, change in
            try await reschedule(request, change.priority, change.start)
        },
        Route(
            method: "POST", path: "/v1/jobs/{id}/run", name: "runJob", summary: "Lets a delayed job start at once.",
            role: .operate, pathParameters: [id], query: [.queue], responses: [(200, "the job", Schema.named("Job"))]
        ) { request in
            try await reschedule(request, nil, .now)
        },
    ]

    private static func reschedule(
        _ request: APIRequest, _ priority: JobSpec.Priority?, _ start: JobStart?
    ) async throws -> Reply {
        let queue = try request.queue()
        let job = try await request.job(queue)
        let id = job.id
        if case .notBefore(let instant)? = start { await request.keepUploads(of: [job], start: instant) }
        if case .now? = start { await request.keepUploads(of: [job]) }
        let answer = try await queue.reschedule([id], priority: priority, start: start)[0]
        switch answer {
        case .rescheduled:
            return try await request.after(changing: [id]) {
                Reply(try await request.job(queue, id: id), subjects: [id])
            }
        case .wrongState(let state):
            let states = start == .now ? "delayed jobs" : "waiting and delayed jobs"
            throw Problem(409, "wrong_state", "the job is \(state.rawValue); only \(states) can be changed")
        case .unknown: throw Problem.noJob(id)
        }
    }
}

/// What changes of a job; `nil` is left as it is.
private struct JobChange: RequestBody {
    let priority: JobSpec.Priority?
    let start: JobStart?

    static let schema: JSONValue = [
        "type": "object", "additionalProperties": false, "minProperties": 1,
        "properties": [
            "priority": Schema.word(JobSpec.Priority.allCases.map(\.name)),
            "not_before": [
                "type": ["string", "null"], "pattern": .string(instantPattern),
                "description": "an ISO 8601 instant; null: at once",
            ],
        ],
    ]

    private static let instantPattern =
        "^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,3})?Z$"

    init(_ members: [String: JSONValue]) throws(Problem) {
        priority = members["priority"]?.field.flatMap { JobSpec.Priority(name: $0) }
        guard let value = members["not_before"] else {
            start = nil
            return
        }
        guard let instant = Instant.milliseconds(parsing: value.field ?? "1970-01-01T00:00:00Z") else {
            let rule = "`not_before` must be an ISO 8601 instant, such as 2030-01-31T12:00:00Z, or null"
            throw .wrong([.init("/not_before", rule)])
        }
        start = .notBefore(instant)
    }
}
