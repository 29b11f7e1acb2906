import Redis

/// An entry of the inbox, with no more fields than a job may have.
struct InboxEntry {
    let id: String
    let fields: [String: String]

    /// Whether the entry only wakes a worker.
    var isBell: Bool { fields.count == 1 && fields["_bell"] != nil }

    fileprivate init(_ id: String, _ fields: ScriptAnswer) throws(QueueError) {
        guard let fields = fields.value.dictionary else { throw fields.unexpected }
        self.id = id
        self.fields = fields.compactMapValues(\.string)
    }
}

extension JobQueue {
    /// Some of the entries after one, or from the start if it is `nil`; `next` is where to continue, `nil` if no more
    /// follow.
    func inboxEntries(
        after last: String?, limit: Int
    ) async throws(QueueError) -> (entries: [InboxEntry], next: String?) {
        let answer = try await run(QueueScript.queued, ["page", .integer(Int64(limit)), .text(last ?? "")])
        let parts = try answer.array()
        guard !parts.count.isMultiple(of: 2) else { throw answer.unexpected }
        let next = try parts[0].text()
        var entries: [InboxEntry] = []
        for index in stride(from: 1, to: parts.count, by: 2) {
            entries.append(try InboxEntry(try parts[index].text(), parts[index + 1]))
        }
        return (entries, next.isEmpty ? nil : next)
    }

    /// The entry of each id; `nil` for an id that is not in the inbox.
    func inboxEntries(_ ids: [String]) async throws(QueueError) -> [InboxEntry?] {
        var entries: [InboxEntry?] = []
        while entries.count < ids.count {
            let rest = ids[entries.count...]
            let answer = try await run(QueueScript.queued, ["find"] + rest.map { .text($0) })
            let parts = try answer.array()
            guard (1...rest.count).contains(parts.count) else { throw answer.unexpected }
            for (id, part) in zip(rest, parts) {
                entries.append(part.value.array == nil ? nil : try InboxEntry(id, part))
            }
        }
        return entries
    }
}
