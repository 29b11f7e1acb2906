import Redis

extension JobQueue {
    /// Events that are stored.
    package struct StoredEvents: Sendable {
        /// The events after the id that was given, oldest first.
        package var events: [QueueEvent] = []
        /// The id of the newest entry that was read; `nil` if there is none.
        package var newest: String?
        /// Whether events after that id are not stored any more, or are too many.
        package var hasGap = false
    }

    /// The stored events after an entry's id, up to 1,000; only the position of the newest one if no id is given.
    package func events(after last: String?) async throws(QueueError) -> StoredEvents {
        var stored = StoredEvents()
        if let last {
            let found = try await send([["XRANGE", .text(keys.events), .text(last), "+", "COUNT", "1002"]])[0]
            let entries = found.array ?? []
            let isStored = entries.first?.array?.first?.string == last
            if isStored, entries.count <= 1001 {
                stored.events = entries.dropFirst().compactMap(EventFeed.event)
                stored.newest = entries.last?.array?.first?.string
                return stored
            }
            stored.hasGap = true
        }
        let newest = try await send([["XREVRANGE", .text(keys.events), "+", "-", "COUNT", "1"]])[0]
        stored.newest = newest.array?.first?.array?.first?.string
        return stored
    }
}
