import Redis

extension QueueReading {
    /// Checks that the job of each key exists.
    mutating func readBelongings(_ kind: String, _ ids: [String]) async throws(QueueError) {
        let ids = try await missing(ids.map { key("job:" + $0) }).map { ids[$0] }
        let pairs = try await atomically(
            each: ids.map { [["EXISTS", key("\(kind):\($0)")], ["EXISTS", key("job:" + $0)]] })
        for (id, pair) in zip(ids, pairs) where pair == [.integer(1), .integer(0)] {
            suspects.add("\(kind):\(id)", "\(kind):\(id) belongs to no job")
        }
    }

    /// Checks that each `dedup` key is held by an unfinished job.
    mutating func readHolders(_ names: [String]) async throws(QueueError) {
        let holders = try await queue.send(names.map { ["GET", key("dedup:" + $0)] })
        let pairs = try await atomically(
            each: zip(names, holders).map { name, holder in
                [["GET", key("dedup:" + name)], ["HMGET", key("job:" + (holder.string ?? "")), "dedup", "state"]]
            })
        for ((name, holder), pair) in zip(zip(names, holders), pairs) {
            // Another job may have taken the key since.
            guard let id = holder.string, pair.first == holder else { continue }
            let job = (pair.last?.array ?? []).map(\.string)
            if job.first != name || job.last?.flatMap(JobState.init)?.isTerminal != false {
                suspects.add(
                    "dedup:" + name, "dedup:\(name) belongs to \(id), which is not an unfinished job with that key")
            }
        }
    }

    /// Checks that each key expires.
    mutating func readLives(_ kind: String, _ rests: [String]) async throws(QueueError) {
        let names = rests.map { "\(kind):\($0)" }
        for (name, life) in zip(names, try await queue.send(names.map { ["PTTL", key($0)] })) where life == .integer(-1)
        {
            suspects.add(name, "\(name) never expires")
        }
    }

    mutating func readUnknown(_ names: [String]) async throws(QueueError) {
        for (name, found) in zip(names, try await queue.send(names.map { ["EXISTS", key($0)] }))
        where found == .integer(1) {
            suspects.add(name, "\(name) is an unknown key")
        }
    }

    /// Checks that there is a bell exactly if one is needed.
    mutating func readBells() async throws(QueueError) {
        let first = try await atomically([["HGETALL", .text(queue.keys.meta)], ["ZCARD", .text(queue.keys.ready)]])
        let meta = first.first.map(Self.texts) ?? [:]
        let hanging = (meta["bell"] ?? "").split(separator: " ").first.map(String.init)
        let bells = try await bells()
        if bells != (hanging.map { [$0] } ?? []) {
            suspects.add("meta", "the inbox has the bells \(bells), but meta has \(hanging ?? "none")")
        }
        let isPaused = meta["paused"] != nil
        if first.last?.integer ?? 0 > 0, !isPaused, hanging == nil {
            suspects.add("meta", "there are ready jobs, but no bell")
        }
        if isPaused, hanging != nil { suspects.add("meta", "a bell exists while the queue is paused") }
    }

    /// The ids of the inbox's bells.
    private func bells() async throws(QueueError) -> [String] {
        var (found, last) = ([String](), String?.none)
        repeat {
            let page = try await queue.inboxEntries(after: last, limit: 500)
            found += page.entries.filter(\.isBell).map(\.id)
            last = page.next
        } while last != nil
        return found
    }
}
