package import Redis

extension RedisClient {
    /// How many scripts the server has run, and been asked for in vain, so far.
    package nonisolated func scriptCount() async throws -> Int {
        let lines = try await send(["INFO", "commandstats"]).string?.split(whereSeparator: \.isNewline) ?? []
        // `cmdstat_evalsha:calls=5,usec=…`
        return lines.filter { $0.hasPrefix("cmdstat_eval") }.reduce(0) { sum, line in
            sum + (Int(line.drop { $0 != "=" }.dropFirst().prefix { $0 != "," }) ?? 0)
        }
    }
}
