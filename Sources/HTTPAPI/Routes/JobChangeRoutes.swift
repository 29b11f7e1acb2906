import JobSchema
import Jobs

extension Route {
    /// The routes that change when a job runs.
    static let jobChanges: [Route] = [
        Route(
            method: "PATCH", path: "/v1/jobs/{id}", name: "changeJob",
            summary: "Changes the priority of a job that waits or is delayed, or when it may start.", role: .operate,
            pathParameters: [id], query: [.queue],
            body: [
                "type": "object", "additionalProperties": false, "minProperties": 1,
                "properties": [
                    "priority": Schema.word(JobSpec.Priority.allCases.map(\.name)),
                    "not_before": [
                        "type": ["string", "null"], "pattern": .string(instantPattern),
                        "description": "an ISO 8601 instant; null: at once",
                    ],
                ],
            ], maxBodyBytes: 4 << 10, responses: [(200, "the job", Schema.named("Job"))]
        ) { request in
            let (priority, start) = try change(request)
            return try await reschedule(request, priority, start)
        },
        Route(
            method: "POST", path: "/v1/jobs/{id}/run", name: "runJob", summary: "Lets a delayed job start at once.",
            role: .operate, pathParameters: [id], query: [.queue], responses: [(200, "the job", Schema.named("Job"))]
        ) { request in
            try await reschedule(request, nil, .now)
        },
    ]

    private static let instantPattern =
        "^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,3})?Z$"

    private static func change(_ request: APIRequest) throws(Problem) -> (JobSpec.Priority?, JobStart?) {
        func wrong(_ name: String, _ message: String) -> Problem {
            .wrong([.init(pointer: name, code: "invalid_request", message: message)])
        }
        guard case .object(let members) = try request.json(), !members.isEmpty,
            members.keys.allSatisfy({ ["priority", "not_before"].contains($0) })
        else { throw wrong("", "the body must have `priority` or `not_before`, and nothing else") }
        var (priority, start): (JobSpec.Priority?, JobStart?)
        if let value = members["priority"] {
            guard case .string(let name) = value, let found = JobSpec.Priority(name: name) else {
                throw wrong("/priority", "`priority` must be high, normal or low")
            }
            priority = found
        }
        if let value = members["not_before"] {
            let text = value.field ?? "1970-01-01T00:00:00Z"
            guard let instant = Instant.milliseconds(parsing: text) else {
                throw wrong(
                    "/not_before", "`not_before` must be an ISO 8601 instant, such as 2030-01-31T12:00:00Z, or null")
            }
            start = .notBefore(instant)
        }
        return (priority, start)
    }

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
