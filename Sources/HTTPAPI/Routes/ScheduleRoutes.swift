import JobSchema
import Jobs
import Lifecycle

extension Route {
    /// The routes of one schedule, which do what `respool schedule` does.
    static let schedules: [Route] = [
        Route(
            method: "GET", path: "/v1/schedules/{schedule}", name: "getSchedule", summary: "A schedule.", role: .read,
            pathParameters: [name], query: [.queue], responses: [(200, "the schedule", Schema.named("Schedule"))]
        ) { request in
            Reply(ScheduleReport(try await schedule(request, try request.wholeQueue())))
        },
        Route(
            method: "GET", path: "/v1/schedules/{schedule}/fields", name: "getScheduleFields",
            summary: "The fields of a schedule's jobs, without secrets; `hidden` names those that lack a part.",
            role: .read, pathParameters: [name], query: [.queue],
            responses: [(200, "the fields", Schema.named("ShownFields"))]
        ) { request in
            Reply(ShownFields(try await schedule(request, try request.wholeQueue()).fields))
        },
        Route(
            method: "PUT", path: "/v1/schedules/{schedule}", name: "putSchedule",
            summary: "Creates or replaces a schedule, which pushes a job at the times of a cron expression.",
            role: .operate, pathParameters: [name], query: [.queue], body: ScheduleBody.self,
            maxBodyBytes: 128 << 10, isOfWholeQueue: true,
            responses: [
                (201, "the new schedule", Schema.named("Schedule")),
                (200, "the schedule that replaces one", Schema.named("Schedule")),
            ]
        ) { request, body in
            let queue = try request.wholeQueue()
            let (name, spec) = (request.values["schedule"] ?? "", body.spec)
            let earlier = try await queue.schedule(name)
            // Without a change in between, it is replaced if it was there.
            _ = try await queue.putSchedule(name, spec, replaces: true)
            return try await request.after(changing: [name]) {
                let report = ScheduleReport(try await schedule(request, queue))
                return Reply(report, status: earlier == nil ? 201 : 200, subjects: [name])
            }
        },
        Route(
            method: "DELETE", path: "/v1/schedules/{schedule}", name: "deleteSchedule",
            summary: "Deletes a schedule; jobs that it has pushed remain.", role: .operate, pathParameters: [name],
            query: [.queue], responses: [(204, "it is deleted", Schema.any)]
        ) { request in
            let (queue, name) = (try request.wholeQueue(), request.values["schedule"] ?? "")
            guard try await queue.removeSchedule(name) else {
                throw Problem.noSchedule(name)
            }
            return Reply(subjects: [name])
        },
        Route(
            method: "POST", path: "/v1/schedules/{schedule}/run", name: "runSchedule",
            summary: "Pushes one job of a schedule now.", role: .operate, pathParameters: [name], query: [.queue],
            responses: [(201, "the job", Schema.object(["id": Schema.string]))], link: "getJob"
        ) { request in
            let queue = try request.wholeQueue()
            let found = try await schedule(request, queue)
            let id = try await queue.runSchedule(found)
            guard let id else { throw Problem.noSchedule(found.name) }
            var reply = Reply(["id": id], status: 201, subjects: [found.name, id])
            reply.headers = [request.location(ofJob: id, in: queue)]
            return reply
        },
        pausing(
            true, "pause", "pauseSchedule", "Lets a schedule push no more jobs, until it is resumed."),
        pausing(
            false, "resume", "resumeSchedule", "Lets a paused schedule push jobs again, from its next occurrence on."),
    ]

    private static let name = Parameter("schedule", .name, "the name of the schedule")

    private static func pausing(_ isPaused: Bool, _ verb: String, _ name: String, _ summary: String) -> Route {
        Route(
            method: "POST", path: "/v1/schedules/{schedule}/\(verb)", name: name, summary: summary, role: .operate,
            pathParameters: [Self.name], query: [.queue],
            responses: [(200, "the schedule", Schema.named("Schedule"))]
        ) { request in
            let queue = try request.wholeQueue()
            let found = try await schedule(request, queue)
            let isDone = try await queue.setSchedule(found, isPaused: isPaused)
            guard isDone else {
                throw Problem(409, "changed", "another client changed the schedule \(found.name): repeat the request")
            }
            return try await request.after(changing: [found.name]) {
                Reply(ScheduleReport(try await schedule(request, queue)), subjects: [found.name])
            }
        }
    }

    /// The schedule of the path.
    private static func schedule(
        _ request: APIRequest, _ queue: JobQueue
    ) async throws -> ScheduleRecord {
        let name = request.values["schedule"] ?? ""
        let found = try await queue.schedule(name)
        guard let found else { throw Problem.noSchedule(name) }
        return found
    }
}

/// A schedule, with the fields of its jobs.
private struct ScheduleBody: RequestBody {
    let spec: ScheduleSpec

    static let schema = Schema.listComponents["ScheduleFields"]!
    static let documentedSchema = Schema.named("ScheduleFields")

    init(_ members: [String: JSONValue]) throws(Problem) {
        let fields = try FieldText.fields(members["fields"]!, at: "/fields")
        if fields["source"]?.hasPrefix(UploadedSource.scheme) == true {
            throw .wrong([.init("/fields/source", "`source` is an upload, which expires: give a URL")])
        }
        do throws(ScheduleSpec.Faults) {
            spec = try ScheduleSpec(
                members["cron"]?.field ?? "", zone: members["time_zone"]?.field ?? ScheduleSpec.defaultZone,
                fields: fields, now: WallClock.milliseconds())
        } catch {
            let pointers: [ScheduleSpec.Faults.Part: String] = [
                .expression: "/cron", .zone: "/time_zone", .fields: "/fields",
            ]
            throw .wrong(error.all.flatMap { Problem.Part.all($0.failure, at: pointers[$0.part]!) })
        }
    }
}

extension Problem {
    fileprivate static func noSchedule(_ name: String) -> Problem {
        Problem(404, "not_found", "there is no schedule \(name)")
    }
}
