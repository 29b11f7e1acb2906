import SlotProtocol

extension QueueSnapshot {
    /// Whether each schedule is whole, and has a time, if only the infinity of one that is paused.
    func scheduleProblems() -> [String] {
        var problems: [String] = []
        for name in schedules.keys where dueSchedules[name] == nil {
            problems.append("the schedule \(name) has no time at which it is due")
        }
        for name in dueSchedules.keys {
            guard let fields = schedules[name] else {
                problems.append("schedules names \(name), which is no schedule")
                continue
            }
            do throws(Failure) { _ = try Recurrence(fields["cron"] ?? "", zone: fields["zone"] ?? "") } catch {
                problems.append("the schedule \(name) cannot be read: \(error.message)")
            }
            if SpecText.decode(Array((fields["spec"] ?? "").utf8)).isEmpty {
                problems.append("the schedule \(name) has no job")
            }
        }
        return problems
    }
}
