import JobSchema
import Jobs

extension Route {
    /// The routes of queues.
    static let queues: [Route] = [
        Route(
            method: "GET", path: "/v1/queues", name: "listQueues", summary: "The queues of this server.", role: .read,
            responses: [(200, "the queues", Schema.object(["queues": Schema.array(Schema.named("Queue"))]))]
        ) { request in
            var reports: [QueueReport] = []
            guard request.token.groupPrefix == nil else {
                throw Problem(403, "scope_denied", "the token is for groups, and this shows all jobs of a queue")
            }
            for queue in request.context.queues where request.token.queue.map({ $0 == queue.name.text }) ?? true {
                reports.append(try await report(queue, request))
            }
            return Reply(["queues": reports])
        },
        Route(
            method: "GET", path: "/v1/queues/{queue}", name: "getQueue", summary: "The state of a queue.", role: .read,
            pathParameters: [.queue], responses: [(200, "the queue", Schema.named("Queue"))]
        ) { request in
            Reply(try await report(try request.wholeQueue(), request))
        },
        Route(
            method: "POST", path: "/v1/queues/{queue}/pause", name: "pauseQueue",
            summary: "Starts no more jobs of a queue; running ones continue.", role: .operate, pathParameters: [.queue],
            responses: [(200, "the queue", Schema.named("Queue"))]
        ) { request in
            let queue = try request.wholeQueue()
            try await queue.pause()
            return try await changed(queue, request)
        },
        Route(
            method: "POST", path: "/v1/queues/{queue}/resume", name: "resumeQueue",
            summary: "Starts jobs of a paused queue again.", role: .operate, pathParameters: [.queue],
            responses: [(200, "the queue", Schema.named("Queue"))]
        ) { request in
            let queue = try request.wholeQueue()
            try await queue.resume()
            return try await changed(queue, request)
        },
        Route(
            method: "POST", path: "/v1/queues/{queue}/drain", name: "drainQueue",
            summary: "Pauses a queue, and waits until none of its jobs runs; `counts.running` says whether that is so.",
            role: .operate, pathParameters: [.queue],
            query: [Parameter("timeout", .whole(0...10), "how many seconds to wait; 10 if it is not given")],
            responses: [(200, "the queue", Schema.named("Queue"))]
        ) { request in
            let queue = try request.wholeQueue()
            try await queue.pause()
            let end = ContinuousClock.now + .seconds(request.whole("timeout") ?? 10)
            return try await changed(queue, request) {
                while true {
                    let stats = try await queue.stats()
                    if stats[.running] == 0 || !stats.isPaused || .now >= end { break }
                    try? await Task.sleep(for: .milliseconds(200))
                }
            }
        },
        Route(
            method: "GET", path: "/v1/counts", name: "getCounts",
            summary:
                "Pushed, ended and retried jobs of each of the last hours, and how long jobs had waited, the current hour first.",
            role: .read,
            query: [.queue, Parameter("hours", .whole(1...720), "how many hours; 24 if it is not given")],
            responses: [
                (
                    200, "the counts",
                    Schema.object([
                        "hours": Schema.array(
                            Schema.object([
                                "start": Schema.string, "counts": Schema.named("Counts"), "waiting": waiting,
                            ]))
                    ])
                )
            ]
        ) { request in
            let queue = try request.wholeQueue()
            let hours = request.whole("hours") ?? 24
            let counts = try await queue.hourlyCounts(hours)
            return Reply(["hours": counts])
        },
    ]

    private static let waiting: JSONValue = [
        "oneOf": [
            Schema.object(["count": Schema.integer, "p50": Schema.number, "p95": Schema.number]), ["type": "null"],
        ]
    ]

    /// The response with the state of a queue that was changed, after what follows the change.
    private static func changed(
        _ queue: JobQueue, _ request: APIRequest, _ rest: () async throws -> Void = {}
    ) async throws -> Reply {
        let subjects = [queue.name.text]
        return try await request.after(changing: subjects) {
            try await rest()
            return Reply(try await report(queue, request), subjects: subjects)
        }
    }

    private static func report(_ queue: JobQueue, _ request: APIRequest) async throws -> QueueReport {
        let stats = try await queue.stats()
        let live = try await queue.live()
        return QueueReport(queue.name.text, stats, live: live)
    }
}

/// The JSON form of a queue's state.
private struct QueueReport: Encodable {
    let queue: String
    let paused: Bool
    let counts: [String: Int]
    /// Waiting jobs that may run, and running ones: what an autoscaler reads.
    let live: Int
    /// Seconds.
    @Nullable var oldestWaiting: Double?
    let workers: Int
    let slots: Int
    let last: [String: JobCounts]

    enum CodingKeys: String, CodingKey {
        case queue, paused, counts, live, workers, slots, last
        case oldestWaiting = "oldest_waiting"
    }

    init(_ queue: String, _ stats: QueueStats, live: Int) {
        self.queue = queue
        paused = stats.isPaused
        counts = stats.countsByName
        self.live = live
        oldestWaiting = stats.oldestWaiting.map { Double($0) / 1000 }
        workers = stats.workers
        slots = stats.slots
        last = ["minute": stats.lastMinute, "hour": stats.lastHour, "day": stats.lastDay]
    }
}
