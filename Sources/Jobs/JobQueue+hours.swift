import Lifecycle
import Redis

/// The counts of one hour.
package struct HourCounts: Sendable, Hashable, Encodable {
    /// When the hour began.
    package let start: String
    /// The counts of the hour.
    package let counts: JobCounts
}

extension JobQueue {
    /// The counts of the last hours by the clock of Redis, the current hour first; hours without any count too.
    package func hourlyCounts(_ hours: Int) async throws(QueueError) -> [HourCounts] {
        let now = Self.milliseconds(try await send([["TIME"]])[0])
        let newest = now / 3_600_000
        let numbers = (0..<Int64(hours)).map { newest - $0 }
        let names: [RedisArgument] = ["pushed", "completed", "failed", "cancelled", "retries", "crashes"]
        let replies = try await send(
            numbers.map { RedisCommand(["HMGET", .text(keys.prefix + "stats:hour:\($0)")] + names) })
        return zip(numbers, replies).map { hour, reply in
            let values = (reply.array ?? []).map { Int($0.integer ?? 0) }
            var counts = JobCounts()
            if values.count == names.count {
                (counts.pushed, counts.completed, counts.failed) = (values[0], values[1], values[2])
                (counts.cancelled, counts.retries, counts.crashes) = (values[3], values[4], values[5])
            }
            return HourCounts(start: WallClock.timestamp(milliseconds: hour * 3_600_000), counts: counts)
        }
    }

    /// How many jobs are running, or waiting and may run: what an autoscaler reads.
    package func live() async throws(QueueError) -> Int {
        Int(try await send([["SCARD", .text(keys.live)]])[0].integer ?? 0)
    }
}
