import JobSchema
import Lifecycle

extension JobRecord: Encodable {
    private enum CodingKeys: String, CodingKey {
        case id, state, phase, progress, position, duration, speed, estimated, eta, attempt, attempts, crashes,
            priority, group
        case source, format, worker, outputs, error
        case createdAt = "created_at"
        case startedAt = "started_at"
        case finishedAt = "finished_at"
        case dueAt = "due_at"
        case outputProgress = "output_progress"
        case history = "attempts_history"
        case traceParent = "traceparent"
    }

    private struct JobError: Encodable {
        let code: ErrorCode
        let message: String
        let retryable: Bool
        @Nullable var fields: [WrongField]?
    }

    /// Writes every key; values that do not apply are `null`.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(state, forKey: .state)
        try container.encode(phase, forKey: .phase)
        try container.encode(progress, forKey: .progress)
        try container.encode(position, forKey: .position)
        try container.encode(duration, forKey: .duration)
        try container.encode(speed, forKey: .speed)
        try container.encode(estimated, forKey: .estimated)
        try container.encode(eta, forKey: .eta)
        try container.encode(attempt, forKey: .attempt)
        try container.encode(attempts, forKey: .attempts)
        try container.encode(crashes, forKey: .crashes)
        try container.encode(priority, forKey: .priority)
        try container.encode(group, forKey: .group)
        try container.encode(source, forKey: .source)
        try container.encode(format, forKey: .format)
        try container.encode(worker, forKey: .worker)
        try container.encode(WallClock.timestamp(milliseconds: createdAt), forKey: .createdAt)
        try container.encode(startedAt.map { WallClock.timestamp(milliseconds: $0) }, forKey: .startedAt)
        try container.encode(finishedAt.map { WallClock.timestamp(milliseconds: $0) }, forKey: .finishedAt)
        try container.encode(dueAt.map { WallClock.timestamp(milliseconds: $0) }, forKey: .dueAt)
        try container.encode(outputProgress, forKey: .outputProgress)
        try container.encode(outputs, forKey: .outputs)
        try container.encode(history, forKey: .history)
        try container.encode(traceParent, forKey: .traceParent)
        try container.encode(
            error.map { JobError(code: $0.code, message: $0.message, retryable: $0.retryable, fields: $0.fields) },
            forKey: .error)
    }
}
