import Jobs

extension Route {
    /// The route that sends events.
    static let events: [Route] = [
        Route(
            method: "GET", path: "/v1/events", name: "getEvents",
            summary: "The events of a queue or a job, as server-sent events.", role: .read,
            query: [
                .queue, Parameter("job", .id, "only events of this job"),
                Parameter(
                    "last_event_id", .entry, "sends the events after this one first, like the header Last-Event-ID"),
            ], responses: [(200, "the events", Schema.string)], contentType: "text/event-stream"
        ) { request throws(Problem) in
            // A token for groups follows single jobs.
            let queue = try request.values["job"] == nil ? request.wholeQueue() : request.queue()
            // The id of a duplicate stands for the first job, which has the events.
            var job: String?
            if let id = request.values["job"] { job = try await request.job(queue, id: id).id }
            guard let hub = request.context.hubs.first(where: { $0.queue.name == queue.name }) else {
                throw Problem(404, "not_found", "this server sends no events of the queue")
            }
            let last =
                request.values["last_event_id"] ?? request.lastEventID.flatMap { Parameter.isEntry($0) ? $0 : nil }
            let stream = try await request.ask { () throws(QueueError) in
                try await hub.listen(job: job, after: last)
            }
            return Reply(stream: stream)
        }
    ]
}
