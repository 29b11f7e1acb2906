import JobSchema
import Lifecycle

/// The JSON form of a group; durations are in seconds.
package struct GroupReport: Encodable {
    let group: String
    let sealed: Bool
    let total: Int
    let completed: Int
    let failed: Int
    let cancelled: Int
    let left: Int
    let waiting: Int
    let delayed: Int
    let running: Int
    let audio: Double
    let jobsPerSecond: Double
    let audioPerSecond: Double
    @Nullable var eta: Double?
    let createdAt: String
    @Nullable var startedAt: String?
    @Nullable var finishedAt: String?

    enum CodingKeys: String, CodingKey {
        case group, sealed, total, completed, failed, cancelled, left, waiting, delayed, running, audio, eta
        case jobsPerSecond = "jobs_per_second"
        case audioPerSecond = "audio_per_second"
        case createdAt = "created_at"
        case startedAt = "started_at"
        case finishedAt = "finished_at"
    }

    /// Combines one reading of the group with the speed of earlier readings, from which the time left follows.
    package init(_ record: GroupRecord, _ speed: GroupSpeed) {
        group = record.name
        sealed = record.isSealed
        total = record.total
        completed = record[.completed]
        failed = record[.failed]
        cancelled = record[.cancelled]
        left = record.left
        waiting = record[.waiting]
        delayed = record[.delayed]
        running = record[.running]
        audio = record.audio
        jobsPerSecond = speed.jobs
        audioPerSecond = speed.audio
        eta = speed.timeLeft(record)
        createdAt = WallClock.timestamp(milliseconds: record.createdAt)
        startedAt = record.startedAt.map { WallClock.timestamp(milliseconds: $0) }
        finishedAt = record.endedAt.map { WallClock.timestamp(milliseconds: $0) }
    }
}
