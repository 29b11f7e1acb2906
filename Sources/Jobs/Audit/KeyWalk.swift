import Redis

/// Scans several sorted sets or sets at the same time, a few members of each per step.
struct KeyWalk {
    /// A member of a set; it may have been removed since it was read.
    struct Member {
        /// The set's name without the prefix.
        let name: String
        let text: String
        fileprivate let isSorted: Bool
    }

    private let queue: JobQueue
    private let isSorted: Bool
    private var places: [(name: String, cursor: String)]

    init(_ queue: JobQueue, sorted names: [String]) { self.init(queue, names, isSorted: true) }

    init(_ queue: JobQueue, sets names: [String]) { self.init(queue, names, isSorted: false) }

    private init(_ queue: JobQueue, _ names: [String], isSorted: Bool) {
        self.queue = queue
        self.isSorted = isSorted
        places = names.map { ($0, "0") }
    }

    /// The next members of all sets that are not finished; `nil` at the end.
    mutating func next() async throws(QueueError) -> [Member]? {
        guard !places.isEmpty else { return nil }
        let (command, count) = (isSorted ? "ZSCAN" : "SSCAN", Int64(max(10, 500 / places.count)))
        let replies = try await queue.send(
            places.map {
                [.text(command), .text(queue.keys.prefix + $0.name), .text($0.cursor), "COUNT", .integer(count)]
            })
        var members: [Member] = []
        var rest: [(name: String, cursor: String)] = []
        for ((name, _), reply) in zip(places, replies) {
            guard let parts = reply.array, parts.count == 2, let cursor = parts[0].string else { continue }
            // ZSCAN returns members and scores alternately.
            let texts = (parts[1].array ?? []).enumerated().filter { !isSorted || $0.offset.isMultiple(of: 2) }
            members += texts.compactMap { $0.element.string }.map { Member(name: name, text: $0, isSorted: isSorted) }
            if cursor != "0" { rest.append((name, cursor)) }
        }
        places = rest
        return members
    }
}

extension QueueReading {
    /// The positions of the keys that do not exist.
    func missing(_ keys: [RedisArgument]) async throws(QueueError) -> [Int] {
        guard !keys.isEmpty, try await queue.send([RedisCommand(["EXISTS"] + keys)])[0] != .integer(Int64(keys.count))
        else { return [] }
        let replies = try await queue.send(keys.map { ["EXISTS", $0] })
        return replies.indices.filter { replies[$0] == .integer(0) }
    }

    /// The members whose keys do not exist, although the set still contains them.
    func lost(
        _ members: [KeyWalk.Member], _ key: (String) -> RedisArgument
    ) async throws(QueueError) -> [KeyWalk.Member] {
        let missing = try await missing(members.map { key($0.text) }).map { members[$0] }
        return try await stillWrong(missing, { ["EXISTS", key($0.text)] }, unless: { $1 == .integer(1) })
    }

    /// The members for which the command's reply is not right, although the set still contains them.
    func wrong(
        _ members: [KeyWalk.Member], _ question: (KeyWalk.Member) -> RedisCommand,
        unless isRight: (KeyWalk.Member, RedisValue) -> Bool
    ) async throws(QueueError) -> [KeyWalk.Member] {
        let answers = try await queue.send(members.map(question))
        let doubtful = zip(members, answers).filter { !isRight($0, $1) }.map(\.0)
        return try await stillWrong(doubtful, question, unless: isRight)
    }

    /// Rechecks members that seemed wrong: sends each one's command again, atomically with a check that the set still
    /// contains it.
    func stillWrong(
        _ members: [KeyWalk.Member], _ question: (KeyWalk.Member) -> RedisCommand,
        unless isRight: (KeyWalk.Member, RedisValue) -> Bool
    ) async throws(QueueError) -> [KeyWalk.Member] {
        let answers = try await atomically(
            each: members.map {
                [[.text($0.isSorted ? "ZMSCORE" : "SMISMEMBER"), key($0.name), .text($0.text)], question($0)]
            })
        return zip(members, answers).filter { member, answers in
            guard answers.count == 2, let there = answers[0].array?.first else { return false }
            return !there.isNull && there != .integer(0) && !isRight(member, answers[1])
        }.map(\.0)
    }
}
