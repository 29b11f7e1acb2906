import JobSchema
import Jobs
import Lifecycle
import Text

extension Route {
    /// The routes that read lists, groups and what belongs to a queue.
    static let listings: [Route] = [
        Route(
            method: "GET", path: "/v1/jobs", name: "listJobs",
            summary: "Jobs, with filters; a page looks at up to 1,000 entries and may be short.", role: .read,
            query: JobSearch.parameters,
            responses: [(200, "a page", Schema.named("JobList"))]
        ) { request in
            try await JobSearch(request).run()
        },
        Route(
            method: "GET", path: "/v1/groups/{group}", name: "getGroup", summary: "The counts of a group.", role: .read,
            pathParameters: [Parameter("group", .name, "the name of the group")], query: [.queue],
            responses: [(200, "the group", Schema.named("Group"))]
        ) { request in
            let (queue, name) = (try request.queue(), request.values["group"] ?? "")
            let group = try await queue.group(name)
            guard let group, request.token.allows(group: name) else {
                throw Problem(
                    404, "not_found", "there is no group \(name): no job was pushed to it, or all are deleted")
            }
            return Reply(GroupReport(group, GroupSpeed(group)))
        },
        Route(
            method: "GET", path: "/v1/workers", name: "listWorkers", summary: "Workers that sent a beat lately.",
            role: .read, query: [.queue],
            responses: [list("workers", "Worker")]
        ) { request in
            let queue = try request.wholeQueue()
            return Reply([
                "workers": try await queue.workers()
                    .map(WorkerReport.init)
            ])
        },
        Route(
            method: "GET", path: "/v1/schedules", name: "listSchedules", summary: "Schedules, the next due first.",
            role: .read, query: [.queue],
            responses: [list("schedules", "Schedule")]
        ) { request in
            let queue = try request.wholeQueue()
            return Reply([
                "schedules": try await queue.schedules()
                    .map(ScheduleReport.init)
            ])
        },
        Route(
            method: "GET", path: "/v1/limits", name: "listLimits",
            summary: "Keys with a limit or a rate; the entry without a key has the defaults.", role: .read,
            query: [.queue],
            responses: [list("limits", "Limit")]
        ) { request in
            let queue = try request.wholeQueue()
            let limits = try await queue.limits()
            return Reply(["limits": limits.keys.map { LimitReport(limits, $0) } + [LimitReport(limits, nil)]])
        },
        Route(
            method: "GET", path: "/v1/callbacks", name: "listCallbacks",
            summary: "Callbacks: unfinished ones, then finished ones, the latest first.", role: .read,
            query: [.queue, Parameter("limit", .whole(1...500), "at most this many; 50 if it is not given")],
            responses: [list("callbacks", "Callback")]
        ) { request in
            let (queue, limit) = (try request.wholeQueue(), request.whole("limit") ?? 50)
            return Reply([
                "callbacks": try await queue.callbacks(limit: limit)
            ])
        },
    ]

    /// The response of a route that lists objects.
    private static func list(_ name: String, _ component: String) -> (Int, String, JSONValue) {
        (200, "the \(name)", Schema.object([name: Schema.array(Schema.named(component))]))
    }
}
