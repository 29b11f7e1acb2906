import Redis

extension JobQueue {
    /// The counts of a group; `nil` if no job of the group exists.
    package func group(_ name: String) async throws(QueueError) -> GroupRecord? {
        let replies = try await send([["TIME"], ["HGETALL", .text(keys.group(name))]])
        let hash = (replies[1].dictionary ?? [:]).compactMapValues(\.string)
        return GroupRecord(name: name, hash: hash, readAt: Self.milliseconds(replies[0]))
    }

    /// Seals a group, after admitting the jobs that are in the inbox, and optionally sets the URL to call when no job
    /// is left.
    package func seal(_ group: String, callback: String? = nil) async throws(QueueError) -> SealAnswer {
        let answer = try await admitInbox([.text(group), "1"], callback)
        guard let sealing = SealAnswer(rawValue: try answer.text()) else { throw answer.unexpected }
        return sealing
    }

    /// Admits the entries of the inbox, so that the group has all its jobs; returns whether the group exists.
    package func admitInbox(ofGroup group: String) async throws(QueueError) -> Bool {
        try await admitInbox([.text(group), "0"]).text() == "known"
    }

    private func admitInbox(_ wish: [RedisArgument], _ callback: String? = nil) async throws(QueueError) -> ScriptAnswer
    {
        var last = "-"
        while true {
            let answer = try await run(QueueScript.admitAndSeal, wish + [.text(last), .text(callback ?? "")])
            let words = try answer.text().split(separator: " ")
            guard words.count == 2, words[0] == "again" else { return answer }
            last = String(words[1])
        }
    }

    /// A page of the ids of a group's jobs: unfinished ones, then failed, cancelled and completed ones.
    package func members(
        of group: String, rank: GroupCursor.Rank? = nil, limit: Int = 500, cursor: GroupCursor? = nil
    ) async throws(QueueError) -> GroupPage {
        let bounds = GroupCursor.bounds(rank)
        let limit = max(1, min(limit, 1000))
        let reply = try await send([
            [
                "ZRANGEBYSCORE", .text(keys.members(group)), .text(cursor.map { "(" + $0.score } ?? bounds.low),
                .text(bounds.high), "WITHSCORES", "LIMIT", "0", .integer(Int64(limit)),
            ]
        ])[0]
        let found = (reply.array ?? []).compactMap(\.string)
        let ids = stride(from: 0, to: found.count - 1, by: 2).map { found[$0] }
        return GroupPage(ids: ids, next: ids.count == limit ? found.last.map { GroupCursor(score: $0) } : nil)
    }
}

/// The result of a request to seal a group.
package enum SealAnswer: String, Sendable {
    case sealed
    /// There is no such group.
    case unknown
    /// The group has already ended or has another callback; nothing was changed.
    case callbackTaken = "taken"
}

/// A part of a group's jobs.
package struct GroupPage: Sendable {
    /// The ids of the page's jobs.
    package let ids: [String]
    /// Where the next page begins; `nil` after the last one.
    package let next: GroupCursor?
}

/// A position among the jobs of a group.
package struct GroupCursor: Sendable, Hashable {
    let score: String

    /// The order of jobs in a group; within a rank, they are in the order in which they run.
    package enum Rank: Int, Sendable {
        case left, failed, cancelled, completed

        /// The rank of a state.
        package init(_ state: JobState) {
            self =
                switch state {
                case .failed: .failed
                case .cancelled: .cancelled
                case .completed: .completed
                case .queued, .waiting, .delayed, .running: .left
                }
        }
    }

    /// The scores of a rank, or of all; a score is rank · 2^44 + sequence.
    static func bounds(_ rank: Rank?) -> (low: String, high: String) {
        guard let rank else { return ("-inf", "+inf") }
        return (String(rank.rawValue << 44), "(" + String((rank.rawValue + 1) << 44))
    }
}
