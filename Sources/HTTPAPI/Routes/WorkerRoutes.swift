import JobSchema
import Jobs

extension Route {
    /// The routes that change workers.
    static let workers: [Route] = [
        Route(
            method: "POST", path: "/v1/workers/{worker}/quiet", name: "quietWorker",
            summary: "Tells a worker to claim no more jobs; it learns that within a second, and running jobs continue.",
            role: .operate, pathParameters: [worker], query: [.queue], responses: [(200, "what was done", done)]
        ) { request in
            try await setQuiet(true, request)
        },
        Route(
            method: "DELETE", path: "/v1/workers/{worker}/quiet", name: "unquietWorker",
            summary: "Tells a worker to claim jobs again.", role: .operate, pathParameters: [worker],
            query: [.queue], responses: [(200, "what was done", done)]
        ) { request in
            try await setQuiet(false, request)
        },
    ]

    private static let worker = Parameter("worker", .worker, "the name of the worker, `host:pid:nonce` or `host:pid`")
    private static let done = Schema.object(["name": Schema.string, "quiet": Schema.boolean])

    private struct Done: Encodable {
        let name: String
        let quiet: Bool
    }

    private static func setQuiet(_ isQuiet: Bool, _ request: APIRequest) async throws -> Reply {
        let (queue, worker) = (try request.wholeQueue(), request.values["worker"] ?? "")
        // A worker with several queues claims no job of any of them.
        guard request.token.queue == nil else {
            throw Problem(403, "scope_denied", "the token is for one queue, and a worker may have several")
        }
        let name = try await queue.setQuiet(isQuiet, worker: worker)
        guard let name else {
            throw Problem(404, "not_found", "the queue has no worker \(worker): it may have stopped")
        }
        return Reply(Done(name: name, quiet: isQuiet), subjects: [name])
    }
}
