import Jobs

extension QueueWalk {
    /// A repair of a key in which nothing is wrong mends nothing.
    mutating func repair() async throws {
        let id = ids.randomElement(using: &random)!
        let group = groups.randomElement(using: &random) ?? "none"
        let key = "k\(Int.random(in: 0..<3, using: &random))"
        let names = [
            "job:\(id)", "job:\(id)", "spec:\(id)", "result:\(id)", "log:\(id)", "commit:\(id)", "group:\(group)",
            "group:\(group):ids", "limit:\(key)", "parked:\(key)", "rate:\(key)", "dedup:\(key)", "ready", "called",
            "callbacks", "schedules",
        ]
        let name = names.randomElement(using: &random)!
        tell("repair \(name)")
        try check(try await QueueRepair(queue).mend(name), [], "what was mended at \(name)")
    }
}
