import Jobs
import Redis

extension QueueWalk {
    private static let yearly = try! Recurrence("@yearly", zone: "UTC")

    mutating func schedule() async throws {
        let name = "s\(Int.random(in: 0..<3, using: &random))"
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: try await put(name)
        case 3..<4: try await runByHand(name)
        case 4..<6: try await pauseOrResume(name)
        case 6..<7:
            tell("remove the schedule \(name)")
            try check(
                try await queue.removeSchedule(name), model.schedules.removeValue(forKey: name) != nil,
                "whether there was the schedule \(name)")
        default: try await letSchedulesBeDue()
        }
    }

    private mutating func put(_ name: String) async throws {
        let isRepeated = chance(20)
        let nonce = isRepeated ? model.schedules[name]?.nonce ?? chooseNonce() : chooseNonce()
        let (fields, replaces) = (fields(), chance(50))
        tell("put the schedule \(name) \(nonce) \(fields) \(replaces)")
        try check(
            try await queue.putSchedule(name, Self.yearly, fields: fields, replaces: replaces, nonce: nonce),
            model.putSchedule(name, fields, replaces: replaces, nonce: nonce), "whether the schedule \(name) is put")
        if let schedule = try await queue.schedule(name), let nonce = model.schedules[name]?.nonce {
            seen.append((schedule, nonce))
        }
    }

    /// What some client saw of a schedule, which may be another by now.
    private mutating func glance(_ name: String) -> (schedule: ScheduleRecord, nonce: String)? {
        seen.suffix(8).filter { $0.schedule.name == name }.randomElement(using: &random)
    }

    private mutating func runByHand(_ name: String) async throws {
        guard let (schedule, _) = glance(name) else { return }
        let former = model.schedules[name]?.run
        let nonce = chance(30) ? former?.nonce ?? chooseNonce() : chooseNonce()
        let id = try await queue.runSchedule(schedule, nonce: nonce)
        tell("run the schedule \(name) \(nonce): \(id ?? "unknown")")
        guard let kept = model.schedules[name] else { return try check(id, nil, "the run of no schedule") }
        guard let id else { return try check("no job", "a job", "the run of \(name)") }
        if nonce == former?.nonce { return try check(id, former?.id, "the repeated run of \(name)") }
        try take(id, kept.fields, name)
        model.schedules[name]!.run = (nonce, id)
    }

    private mutating func pauseOrResume(_ name: String) async throws {
        guard let (schedule, nonce) = glance(name) else { return }
        let isPaused = chance(50)
        tell("\(isPaused ? "pause" : "resume") the schedule \(name)")
        try check(
            try await queue.setSchedule(schedule, isPaused: isPaused),
            model.setSchedule(name, nonce: nonce, isPaused: isPaused), "whether \(name) is as it was seen")
    }

    private mutating func letSchedulesBeDue() async throws {
        for name in model.schedules.keys.sorted() where model.schedules[name]!.isDue != nil && chance(60) {
            _ = try await client.send(["ZADD", .text(queue.keys.schedules), "1000", .text(name)])
            model.schedules[name]!.isDue = true
        }
        let due = model.dueSchedules
        tell("due are \(due)")
        guard chance(70) else { return }
        let results = try await queue.runDueSchedules()
        tell("pushed \(results)")
        try check(results.map(\.name), due, "the schedules whose job is pushed")
        for (name, job) in results {
            try take(try job.get(), model.schedules[name]!.fields, name)
            model.schedules[name]!.isDue = false
        }
    }

    /// Takes note of a job that a schedule pushed, unless it is the one that its dedup key stands for.
    private mutating func take(_ id: String, _ fields: [String: String], _ name: String) throws {
        if let first = model.duplicate(fields) {
            return try check(id, first, "the job that a duplicate of \(name) stands for")
        }
        try check(model.jobs[id] == nil, true, "whether the id of \(name) is new")
        model.admit(id, fields)
        ids.append(id)
    }

    func compareSchedules() async throws {
        let found = try await queue.schedules().map { "\($0.name) \($0.next == nil)" }.sorted()
        try check(found, model.schedules.map { "\($0.key) \($0.value.isDue == nil)" }.sorted(), "the schedules")
    }
}
