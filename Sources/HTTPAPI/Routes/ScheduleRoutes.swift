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
            role: .operate, pathParameters: [name], query: [.queue], body: Schema.named("ScheduleFields"),
            maxBodyBytes: 128 << 10,
            responses: [
                (201, "the new schedule", Schema.named("Schedule")),
                (200, "the schedule that replaces one", Schema.named("Schedule")),
            ]
        ) { request in
            let queue = try request.wholeQueue()
            let (name, spec) = (request.values["schedule"] ?? "", try spec(request))
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

    /// The schedule of the body.
    private static func spec(_ request: APIRequest) throws(Problem) -> ScheduleSpec {
        func wrong(_ pointer: String, _ message: String) -> Problem {
            .wrong([.init(pointer: pointer, code: "invalid_request", message: message)])
        }
        guard case .object(let members) = try request.json(),
            members.keys.allSatisfy({ ["cron", "time_zone", "fields"].contains($0) })
        else { throw wrong("", "the body has `cron`, `time_zone` and `fields`, and nothing else") }
        guard case .string(let cron)? = members["cron"] else {
            throw wrong("/cron", "`cron` must be a cron expression, such as 30 2 * * MON")
        }
        guard case .string(let zone) = members["time_zone"] ?? .string(ScheduleSpec.defaultZone) else {
            throw wrong("/time_zone", "`time_zone` must be the name of a time zone, such as Europe/Berlin")
        }
        guard let value = members["fields"] else { throw wrong("/fields", "`fields` must have the job's fields") }
        let fields = try FieldText.fields(value, at: "/fields")
        if fields["source"]?.hasPrefix(UploadedSource.scheme) == true {
            throw wrong("/fields/source", "`source` is an upload, which expires: give a URL")
        }
        do throws(ScheduleSpec.Fault) {
            return try ScheduleSpec(cron, zone: zone, fields: fields, now: WallClock.milliseconds())
        } catch {
            let code = error.failure.code.rawValue
            switch error.part {
            case .expression: throw Problem.wrong([.init(pointer: "/cron", code: code, message: error.failure.message)])
            case .zone: throw Problem.wrong([.init(pointer: "/time_zone", code: code, message: error.failure.message)])
            case .fields: throw Problem.wrong(Problem.Part.all(error.failure, at: "/fields"))
            }
        }
    }
}

extension Problem {
    fileprivate static func noSchedule(_ name: String) -> Problem {
        Problem(404, "not_found", "there is no schedule \(name)")
    }
}
