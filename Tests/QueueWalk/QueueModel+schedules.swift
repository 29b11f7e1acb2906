import Jobs

extension QueueModel {
    struct Schedule {
        var fields: [String: String]
        /// Whether its next job is due; nothing while it is paused.
        var isDue: Bool?
        let nonce: String
        /// The last job that somebody pushed by hand, and how that call was told from others.
        var run: (nonce: String, id: String)?
    }

    mutating func putSchedule(_ name: String, _ fields: [String: String], replaces: Bool, nonce: String) -> Bool {
        if schedules[name]?.nonce == nonce { return true }
        guard replaces || schedules[name] == nil else { return false }
        let old = schedules[name]
        // One that is paused stays paused.
        let isDue = old != nil && old?.isDue == nil ? nil : false
        schedules[name] = Schedule(fields: fields, isDue: isDue, nonce: nonce, run: old?.run)
        return true
    }

    mutating func setSchedule(_ name: String, nonce: String, isPaused: Bool) -> Bool {
        guard let schedule = schedules[name], schedule.nonce == nonce else { return false }
        schedules[name]!.isDue = isPaused ? nil : schedule.isDue ?? false
        return true
    }

    /// Those that are due, in their order.
    var dueSchedules: [String] { schedules.keys.filter { schedules[$0]!.isDue == true }.sorted() }
}
