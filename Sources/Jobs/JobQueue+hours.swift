import Lifecycle
import Redis

/// The counts of one hour.
package struct HourCounts: Sendable, Encodable {
    /// When the hour began.
    package let start: String
    /// The counts of the hour.
    package let counts: JobCounts
    /// How long the jobs had waited that started in the hour; `nil` if none did.
    package let waiting: WaitingTimes?

    private enum CodingKeys: CodingKey { case start, counts, waiting }

    /// Writes every key.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(start, forKey: .start)
        try container.encode(counts, forKey: .counts)
        try container.encode(waiting, forKey: .waiting)
    }
}

extension JobQueue {
    /// The counts of the last hours by the clock of Redis, the current hour first; hours without any count too.
    package func hourlyCounts(_ hours: Int) async throws(QueueError) -> [HourCounts] {
        let now = Self.milliseconds(try await send([["TIME"]])[0])
        let newest = now / 3_600_000
        let numbers = (0..<Int64(hours)).map { newest - $0 }
        let replies = try await send(numbers.map { ["HGETALL", .text(keys.prefix + "stats:hour:\($0)")] })
        return zip(numbers, replies).map { hour, reply in
            let values = (reply.dictionary ?? [:]).compactMapValues { $0.integer.map { Int($0) } }
            var counts = JobCounts()
            for (name, count) in JobCounts.names { counts[keyPath: count] = values[name] ?? 0 }
            return HourCounts(
                start: WallClock.timestamp(milliseconds: hour * 3_600_000), counts: counts,
                waiting: WaitingTimes(buckets: values))
        }
    }

    /// How many jobs are running, or waiting and may run: what an autoscaler reads.
    package func live() async throws(QueueError) -> Int {
        Int(try await send([["SCARD", .text(keys.live)]])[0].integer ?? 0)
    }
}
