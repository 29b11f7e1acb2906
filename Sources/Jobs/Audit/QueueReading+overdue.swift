import Lifecycle
import Redis

extension QueueReading {
    /// Reads overdue work, which any worker would have processed within a second, or, for callbacks, within a minute.
    mutating func readOverdue() async throws(QueueError) {
        let replies = try await queue.send([["TIME"], ["HGET", .text(queue.keys.meta), "grace"]])
        let (now, grace) = (JobQueue.milliseconds(replies[0]), replies[1].integer ?? 0)
        let tolerance: Int64 = 5000
        if grace + tolerance < now {
            try await readOverdue("lease", now - tolerance) { id, end in
                "job \(id): its lease expired at \(end(grace)), and it was not reaped"
            }
        }
        try await readOverdue("delayed", now - tolerance) { id, due in
            "job \(id) was due at \(due(0)), and was not promoted"
        }
        try await readOverdue("expiring", now - tolerance) { id, end in
            "job \(id) was to expire at \(end(0)), and did not"
        }
        try await readOverdue("schedules", now - tolerance) { name, due in
            "the schedule \(name) was due at \(due(0)), and did not run"
        }
        try await readOverdue("paced", now - tolerance) { key, due in
            "the next job of \(key) was due to start at \(due(0)), and was not made ready"
        }
        try await readOverdue("callbacks", now - 60_000) { receiver, due in
            "a callback to \(receiver) was due at \(due(0)), and was not sent"
        }
    }

    /// Reads the members of a sorted set with a time before the limit, in ms; times below the floor are shown as the
    /// floor.
    private mutating func readOverdue(
        _ name: String, _ limit: Int64, _ sentence: (String, (_ floor: Int64) -> String) -> String
    ) async throws(QueueError) {
        let command: RedisCommand = [
            "ZRANGEBYSCORE", key(name), "-inf", .text("(\(limit)"), "WITHSCORES", "LIMIT", 0,
            .integer(Int64(SuspectJobs.most) + 1),
        ]
        let texts = (try await queue.send([command])[0].array ?? []).compactMap(\.string)
        for index in stride(from: 0, to: texts.count - 1, by: 2) {
            let time = Int64(texts[index + 1]) ?? 0
            suspects.add(overdue: sentence(texts[index]) { WallClock.timestamp(milliseconds: max(time, $0)) })
        }
    }
}
