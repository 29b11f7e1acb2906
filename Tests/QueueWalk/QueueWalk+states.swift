import JobSchema
import Jobs
import Redis

extension QueueWalk {
    /// Reads the events since the last call. Each change of a job's state must be one that `docs/queue.md` lists for one of the
    /// scripts.
    mutating func followStates(_ scripts: Set<String>) async throws {
        let start = lastEvent.isEmpty ? "-" : "(" + lastEvent
        let reply = try await client.send(["XRANGE", .text(queue.keys.events), .text(start), "+"])
        for entry in reply.array ?? [] {
            guard let parts = entry.array, parts.count == 2, let fields = parts[1].dictionary,
                let position = parts[0].string, let id = fields["id"]?.string, let word = fields["state"]?.string
            else { return try check("an event", "an event with an id and a state", "what is in `events`") }
            lastEvent = position
            // Other words are of the queue, or of a duplicate, which is not a job.
            guard !id.isEmpty, word == "purged" || JobState(rawValue: word) != nil else { continue }
            let change = StateTable.Change(
                from: states[id] ?? JobState.queued.rawValue, to: word == "purged" ? "deleted" : word)
            states[id] = word == "purged" ? nil : word
            guard change.from != change.to else { continue }
            changes.insert(change)
            let isListed = table.scripts[change].map { !$0.isDisjoint(with: scripts) } ?? false
            try check(isListed, true, "whether docs/queue.md lists \(change) (\(id)) for one of \(scripts.sorted())")
        }
    }
}
