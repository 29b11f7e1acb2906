import Jobs

extension Route {
    /// The route that sends events.
    static let events: [Route] = [
        Route(
            method: "GET", path: "/v1/events", name: "getEvents",
            summary: "The events of a queue, a group or a job, as server-sent events.", role: .read,
            query: [
                .queue, Parameter("job", .id, "only events of this job"),
                Parameter("group", .name, "only events of this group and its jobs"),
                Parameter(
                    "last_event_id", .entry, "sends the events after this one first, like the header Last-Event-ID"),
            ], responses: [(200, "the events", Schema.string)], contentType: "text/event-stream"
        ) { request in
            // A token for groups follows single jobs, and its groups.
            var filter = EventFilter(group: request.values["group"])
            let isScoped = request.values["job"] != nil || filter.group != nil
            let queue = try isScoped ? request.queue() : request.wholeQueue()
            if let group = filter.group, !request.token.allows(group: group) {
                throw Problem(
                    403, "scope_denied", "the token is for groups that begin with \(request.token.groupPrefix ?? "")")
            }
            // The id of a duplicate stands for the first job, which has the events.
            if let id = request.values["job"] { filter.job = try await request.job(queue, id: id).id }
            guard let hub = request.context.hubs.first(where: { $0.queue.name == queue.name }) else {
                throw Problem(404, "not_found", "this server sends no events of the queue")
            }
            let last =
                request.values["last_event_id"] ?? request.lastEventID.flatMap { Parameter.isEntry($0) ? $0 : nil }
            let stream = try await hub.listen(filter, after: last)
            return Reply(stream: stream)
        }
    ]
}
