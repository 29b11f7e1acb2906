import Redis

/// Mends what an audit finds, one key at a time. Each step is one script, which checks the key again, so it may run beside workers.
package struct QueueRepair: Sendable {
    private let queue: JobQueue
    private let pause: Duration

    /// What was done.
    package struct Report: Sendable {
        /// A sentence for each thing that was mended.
        package var mended: [String] = []
        /// A sentence for each thing that was left as it is, and why.
        package var left: [String] = []
    }

    /// Mending one key may show what is wrong with another.
    private static let maxPasses = 4
    /// The number of members that one script looks at.
    private static let maxMembers = 10_000

    /// `pause` is that between the readings of an audit.
    package init(_ queue: JobQueue, pause: Duration = .milliseconds(300)) {
        self.queue = queue
        self.pause = pause
    }

    /// Mends what can be mended without losing a job.
    package func run() async throws(QueueError) -> Report {
        var report = Report()
        var passes = 0
        let failures = try await queue.send([["HGET", .text(queue.keys.meta), "broken"]])[0].string
        while passes < Self.maxPasses {
            let (suspects, _) = try await QueueAudit(queue).lastingSuspects(pause: pause)
            guard !suspects.isEmpty else { break }
            let before = report.mended.count
            report.left = []
            // While an audit does not see everything, members of a group may not be back in it: it would end too early.
            let keys = suspects.keys.filter { !suspects.isCut || !$0.hasPrefix("group:") }
            if !suspects.isCut { passes += 1 }
            // Jobs first: what they share with others is counted from them. The bell last, because it depends on all.
            for key in keys.sorted(by: { (Self.order($0), $0) < (Self.order($1), $1) }) {
                for sentence in try await mend(key) {
                    if sentence.hasPrefix("! ") {
                        report.left.append(String(sentence.dropFirst(2)))
                    } else {
                        report.mended.append(sentence)
                    }
                }
            }
            // Overdue work is done as a worker would do it.
            try await queue.runMaintenance()
            guard report.mended.count > before else { break }
        }
        if let failures { _ = try await run(["broken", .text(failures)]) }
        return report
    }

    private static func order(_ key: String) -> Int {
        let kinds = ["job", "spec", "result", "log", "commit", "dedup", "limit", "parked", "group", "ready"]
        let kind = key.prefix { $0 != ":" }
        return kinds.firstIndex { $0 == kind } ?? (kind == "meta" ? kinds.count + 1 : kinds.count)
    }

    /// Mends one key, named without the queue's prefix; a sentence after `! ` is about what is left as it is.
    package func mend(_ key: String) async throws(QueueError) -> [String] {
        let sentences: [String]
        do throws(QueueError) {
            let group = key.hasPrefix("group:") ? key.dropFirst(6).prefix { $0 != ":" } : ""
            if !group.isEmpty, let counted = try await mendLargeGroup(String(group)) { return counted }
            sentences = try await run([.text(key)])
        } catch {
            // A key of a wrong type, for example, stops no other repair.
            guard case .redis(.server) = error, !error.isTransient, !error.isOutOfMemory else { throw error }
            return ["! \(key) could not be mended: \(error)"]
        }
        if key.hasPrefix("schedule:"), !sentences.isEmpty { try await resume(String(key.dropFirst("schedule:".count))) }
        return sentences
    }

    private func run(_ words: [RedisArgument]) async throws(QueueError) -> [String] {
        var sentences: [String] = []
        for part in try await queue.run(QueueScript.repair, words).array() { sentences.append(try part.text()) }
        return sentences
    }

    /// Counts a group that is too large for one script, which takes the counts if nothing happened in the queue meanwhile; `nil` if it
    /// is not so large.
    private func mendLargeGroup(_ name: String) async throws(QueueError) -> [String]? {
        let ids = RedisArgument.text(queue.keys.members(name))
        let size = try await queue.send([["ZCARD", ids]])[0].integer ?? 0
        guard size > Self.maxMembers else { return nil }
        let event = try await queue.send([["HGET", .text(queue.keys.meta), "event"]])[0].integer ?? 0
        var (counts, foreign): ([JobState: Int], [String]) = ([:], [])
        for start in stride(from: Int64(0), to: size, by: QueueReading.page) {
            let end = start + Int64(QueueReading.page) - 1
            let reply = try await queue.send([["ZRANGE", ids, .integer(start), .integer(end)]])[0]
            let members = (reply.array ?? []).compactMap(\.string)
            let jobs = try await queue.send(members.map { ["HMGET", .text(queue.keys.job($0)), "group", "state"] })
            for (id, job) in zip(members, jobs) {
                let fields = (job.array ?? []).map(\.string)
                if fields.first == name, let state = fields.last?.flatMap(JobState.init) {
                    counts[state, default: 0] += 1
                } else {
                    foreign.append(id)
                }
            }
        }
        var sentences: [String] = []
        for id in foreign { sentences += try await run([.text("member:\(name)"), .text(id)]) }
        let words = counts.flatMap { state, count -> [RedisArgument] in [.text(state.rawValue), .integer(Int64(count))]
        }
        return sentences + (try await run([.text("group:\(name)"), .integer(event)] + words))
    }

    /// Gives a schedule its next due time.
    private func resume(_ name: String) async throws(QueueError) {
        guard let schedule = try await queue.schedule(name), (try? schedule.recurrence()) != nil else { return }
        _ = try await queue.setSchedule(schedule, isPaused: false)
    }
}
