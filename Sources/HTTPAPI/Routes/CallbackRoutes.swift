import JobSchema
import Jobs

extension Route {
    /// The route that sends a callback again, as `respool callbacks --retry` does.
    static let callbacks: [Route] = [
        Route(
            method: "POST", path: "/v1/callbacks/{callback}/retry", name: "retryCallback",
            summary: "Sends a callback again at once, with all its attempts; the receiver gets the same webhook-id.",
            role: .operate, pathParameters: [Parameter("callback", .id, "the id of the callback")], query: [.queue],
            responses: [
                (
                    200, "`due`; or `sending`, if an attempt is under way",
                    Schema.object([
                        "id": Schema.string,
                        "result": Schema.word([RedeliverAnswer.due, .sending].map(\.rawValue)),
                    ])
                )
            ]
        ) { request in
            let (queue, id) = (try request.wholeQueue(), request.values["callback"] ?? "")
            let answer = try await queue.redeliver([id])[0]
            switch answer {
            case .due, .sending: return Reply(["id": id, "result": answer.rawValue], subjects: [id])
            case .lost: throw Problem(409, "lost", "the body of the callback \(id) was not stored")
            case .unknown: throw Problem(404, "not_found", "there is no callback \(id): it may have been removed")
            }
        }
    ]
}
