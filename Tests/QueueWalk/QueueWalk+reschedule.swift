import JobSchema
import Jobs

extension QueueWalk {
    mutating func reschedule() async throws {
        let some = someIDs()
        let priority = chance(60) ? JobSpec.Priority.allCases.randomElement(using: &random) : nil
        let start: JobStart? = [nil, .now, .notBefore(0), .notBefore(4_102_444_800_000)].randomElement(using: &random)!
        tell("reschedule \(some) \(String(describing: priority)) \(String(describing: start))")
        if some.contains(where: { model.state($0) == .queued }) { model.runMaintenance() }
        let answers = try await queue.reschedule(some, priority: priority, start: start)
        for (id, answer) in zip(some, answers) {
            let expected = model.reschedule(id, rank: priority?.rawValue, start: start)
            try check(answer, expected, "the reschedule of \(id)")
        }
    }
}
