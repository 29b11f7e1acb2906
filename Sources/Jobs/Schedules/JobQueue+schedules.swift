package import JobSchema
import Redis

extension JobQueue {
    /// Creates a schedule; returns false if one of that name exists and is not to be replaced.
    ///
    /// A repeated call with the same nonce has no further effect and returns the same.
    package func putSchedule(
        _ name: String, _ spec: ScheduleSpec, replaces: Bool = false, nonce: String = Nonce.random()
    ) async throws(QueueError) -> Bool {
        try await putSchedule(name, spec.recurrence, fields: spec.fields, replaces: replaces, nonce: nonce)
    }

    /// As above, for fields that have not been checked: the jobs are when they are pushed.
    package func putSchedule(
        _ name: String, _ recurrence: Recurrence, fields: [String: String], replaces: Bool = false,
        nonce: String = Nonce.random()
    ) async throws(QueueError) -> Bool {
        let next = recurrence.next(after: try await clock())
        return try await schedule(
            "put", name,
            [
                Self.due(next), .text(nonce), .text(recurrence.expression.text), .text(recurrence.zone.name),
                .bytes(SpecText.encode(fields)), replaces ? "1" : "0",
            ]) != "taken"
    }

    /// Every schedule: the next due first, paused ones last.
    package func schedules() async throws(QueueError) -> [ScheduleRecord] {
        try await schedules(["ZRANGE", .text(keys.schedules), "0", "-1", "WITHSCORES"]).compactMap(\.record)
    }

    /// Reads one schedule; `nil` if none has that name.
    package func schedule(_ name: String) async throws(QueueError) -> ScheduleRecord? {
        let reply = try await send([
            ["HGETALL", .text(keys.schedule(name))], ["ZSCORE", .text(keys.schedules), .text(name)],
        ])
        return ScheduleRecord(name: name, hash: reply[0], next: reply[1])
    }

    /// Pushes a job of a schedule now and returns its id; `nil` if there is no such schedule.
    ///
    /// Repeated with the same nonce, returns the same job, unless another call pushed one in between.
    package func runSchedule(
        _ schedule: ScheduleRecord, nonce: String = Nonce.random()
    ) async throws(QueueError) -> String? {
        let parts = try Self.recurrence(schedule).parts(at: try await clock())
        let id = try await self.schedule("run", schedule.name, [.text(nonce), .text(parts.date), .text(parts.time)])
        return id == "unknown" ? nil : id
    }

    /// Pauses a schedule, or resumes it from the next occurrence; returns false if it was changed in the meantime.
    package func setSchedule(_ schedule: ScheduleRecord, isPaused: Bool) async throws(QueueError) -> Bool {
        let next = isPaused ? nil : try Self.recurrence(schedule).next(after: try await clock())
        return try await self.schedule("move", schedule.name, [.text(schedule.revision), Self.due(next)]) == "done"
    }

    /// Removes a schedule; returns whether it existed.
    package func removeSchedule(_ name: String) async throws(QueueError) -> Bool {
        try await schedule("remove", name, []) == "done"
    }

    /// Pushes the due jobs and returns the result for each schedule. Each job is pushed once, however many workers call
    /// this.
    ///
    /// A schedule whose occurrences were missed, because no worker was running, gets one job for all of them.
    package func runDueSchedules() async throws(QueueError) -> [(name: String, job: Result<String, Failure>)] {
        let now = try await clock()
        var results: [(name: String, job: Result<String, Failure>)] = []
        // The number of schedules that cannot run: they stay due, and come before all others.
        var stuck = 0
        while true {
            let some = try await schedules([
                "ZRANGEBYSCORE", .text(keys.schedules), "-inf", .integer(now), "WITHSCORES", "LIMIT",
                .integer(Int64(stuck)), "100",
            ])
            for (name, schedule) in some {
                let result: Result<String?, Failure> =
                    if let schedule { try await fire(schedule, now) } else { .success(nil) }
                switch result {
                case .success(let id?): results.append((name, .success(id)))
                case .success(nil): if schedule == nil { stuck += 1 }
                case .failure(let failure):
                    stuck += 1
                    results.append((name, .failure(failure)))
                }
            }
            guard some.count == 100 else { return results }
        }
    }

    /// Pushes the job of a due schedule and returns its id; `nil` if another worker has pushed it.
    private func fire(_ schedule: ScheduleRecord, _ now: Int64) async throws(QueueError) -> Result<String?, Failure> {
        let recurrence: Recurrence
        do throws(Failure) { recurrence = try schedule.recurrence() } catch { return .failure(error) }
        let due = schedule.next ?? now
        let parts = recurrence.parts(at: due)
        do throws(QueueError) {
            let answer = try await self.schedule(
                "fire", schedule.name,
                [
                    .integer(due), .text(schedule.revision), Self.due(recurrence.next(after: now)),
                    .text(Nonce.random()), .text(parts.date), .text(parts.time),
                ])
            return .success(["late", "unknown"].contains(answer) ? nil : answer)
        } catch {
            // An error reply for this schedule does not imply one for the next.
            guard case .redis(.server) = error, !error.isTransient else { throw error }
            return .failure(Failure(.internal, "\(error)"))
        }
    }

    /// The schedules in the reply; the record is `nil` if the schedule was removed in the meantime.
    private func schedules(
        _ command: RedisCommand
    ) async throws(QueueError) -> [(name: String, record: ScheduleRecord?)] {
        let found = try await send([command])[0].array ?? []
        let pairs = stride(from: 0, to: found.count - 1, by: 2).map {
            (name: found[$0].string ?? "", next: found[$0 + 1])
        }
        let hashes = try await send(pairs.map { ["HGETALL", .text(keys.schedule($0.name))] })
        return zip(pairs, hashes).map { ($0.name, ScheduleRecord(name: $0.name, hash: $1, next: $0.next)) }
    }

    private func schedule(
        _ verb: RedisArgument, _ name: String, _ arguments: [RedisArgument]
    ) async throws(QueueError) -> String {
        try await run(QueueScript.schedule, [verb, .text(name)] + arguments).text()
    }

    /// The server's clock, in milliseconds since 1970.
    private func clock() async throws(QueueError) -> Int64 {
        Self.milliseconds(try await send([["TIME"]])[0])
    }

    private static func due(_ next: Int64?) -> RedisArgument { next.map { .integer($0) } ?? "+inf" }

    private static func recurrence(_ schedule: ScheduleRecord) throws(QueueError) -> Recurrence {
        do throws(Failure) { return try schedule.recurrence() } catch { throw .invalidJob(index: 0, error) }
    }
}
