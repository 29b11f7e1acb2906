import JobSchema
import Redis

extension QueueReading {
    /// Checks that each schedule is complete and has a due time (infinity if it is paused).
    mutating func readSchedules(_ names: [String]) async throws(QueueError) {
        for some in names.chunks(of: 50) {
            let pairs = try await atomically(
                each: some.map {
                    [
                        ["HMGET", .text(queue.keys.schedule($0)), "cron", "zone", "spec"],
                        ["EXISTS", .text(queue.keys.schedule($0))],
                        ["ZSCORE", .text(queue.keys.schedules), .text($0)],
                    ]
                })
            for (name, answers) in zip(some, pairs) where answers.count == 3 && answers[1] == .integer(1) {
                let fields = answers[0].array.map { $0.map { $0.string ?? "" } } ?? ["", "", ""]
                for problem in Self.problems(name, fields, isDue: !answers[2].isNull) {
                    suspects.add("schedule:" + name, problem)
                }
            }
        }
    }

    /// Checks that every member of `schedules` exists.
    mutating func readDueSchedules() async throws(QueueError) {
        try await readNames("schedules") {
            "schedule:" + $0
        } problem: {
            "schedules contains \($0), which is not a schedule"
        }
    }

    private static func problems(_ name: String, _ fields: [String], isDue: Bool) -> [String] {
        guard isDue else { return ["the schedule \(name) has no due time"] }
        var problems: [String] = []
        do throws(Failure) { _ = try Recurrence(fields[0], zone: fields[1]) } catch {
            problems.append("the schedule \(name) cannot be read: \(error.message)")
        }
        if SpecText.decode(Array(fields[2].utf8)).isEmpty { problems.append("the schedule \(name) has no job") }
        return problems
    }
}
