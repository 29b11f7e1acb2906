package import JobSchema
import Lifecycle
import Redis

extension JobQueue {
    /// Changes the priority of waiting and delayed jobs, and when they may run; `nil` leaves either as it is. A job that waits
    /// keeps its place among the jobs of its new priority.
    package func reschedule(
        _ ids: [String], priority: JobSpec.Priority? = nil, start: JobStart? = nil
    ) async throws(QueueError) -> [RescheduleAnswer] {
        // Jobs that are still in the inbox are admitted first.
        if try await jobs(ids).contains(where: { $0?.state == .queued }) { try await runMaintenance() }
        let change: [RedisArgument] = [
            .text(priority.map { "\($0.rawValue)" } ?? ""), .text(priority?.name ?? ""), .text(Self.moment(start)),
            .text(Self.instant(start)),
        ]
        var answers: [RescheduleAnswer] = []
        while answers.count < ids.count {
            let chunk = ids[answers.count...].prefix(500)
            let answer = try await run(QueueScript.reschedule, change + chunk.map { .text($0) })
            let parts = try answer.array()
            guard (1...chunk.count).contains(parts.count) else { throw answer.unexpected }
            for part in parts { answers.append(try Self.rescheduleAnswer(part)) }
        }
        return answers
    }

    private static func moment(_ start: JobStart?) -> String {
        switch start {
        case nil: ""
        case .now: "now"
        case .notBefore(let instant): "@\(max(0, instant))"
        }
    }

    private static func instant(_ start: JobStart?) -> String {
        guard case .notBefore(let instant) = start else { return "" }
        return WallClock.timestamp(milliseconds: max(0, instant))
    }

    private static func rescheduleAnswer(_ part: ScriptAnswer) throws(QueueError) -> RescheduleAnswer {
        let words = try part.text().split(separator: " ").map(String.init)
        switch words.first {
        case "rescheduled": return .rescheduled
        case "unknown": return .unknown
        case "state" where words.count == 2:
            guard let state = JobState(rawValue: words[1]) else { throw part.unexpected }
            return .wrongState(state)
        default: throw part.unexpected
        }
    }
}
