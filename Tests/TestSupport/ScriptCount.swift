package import Redis

extension RedisClient {
    /// The number of script calls that the server has received so far, including those of unknown scripts.
    package nonisolated func scriptCount() async throws -> Int {
        let lines = try await send(["INFO", "commandstats"]).string?.split(whereSeparator: \.isNewline) ?? []
        // `cmdstat_evalsha:calls=5,usec=…`
        return lines.filter { $0.hasPrefix("cmdstat_eval") }.reduce(0) { sum, line in
            sum + (Int(line.drop { $0 != "=" }.dropFirst().prefix { $0 != "," }) ?? 0)
        }
    }
}
