import FoundationEssentials
import Lifecycle
import Redis
import SlotProtocol

extension JobQueue {
    /// How long a callback is its sender's.
    package static let callbackTerm: Duration = .seconds(60)

    /// Takes up to so many callbacks that are due, two of one receiver at once over all senders.
    package func dispatch(count: Int, token: String = Nonce.random()) async throws(QueueError) -> [Callback] {
        let answer = try await run(
            QueueScript.dispatch, [.text(token), .integer(Int64(count)), .integer(Self.callbackTerm.milliseconds)])
        var callbacks: [Callback] = []
        for part in try answer.array() { callbacks.append(try Self.callback(part, token)) }
        return callbacks
    }

    /// Ends one try of a callback, after that time.
    package func settle(
        _ callback: Callback, _ outcome: CallbackOutcome, after time: Duration
    ) async throws(QueueError) -> SettleAnswer {
        let (word, status, sentence, wait): (String, Int?, String, Double?) =
            switch outcome {
            case .delivered(let status): ("delivered", status, "delivered", nil)
            case .again(let sentence, let status, let wait): ("again", status, sentence, wait)
            case .refused(let sentence, let status): ("failed", status, sentence, nil)
            }
        let line = sentence.split(whereSeparator: \.isNewline).joined(separator: " ").prefix(utf8Bytes: 300)
        let answer = try await run(
            QueueScript.settle,
            [
                .text(callback.id), .text(callback.token), .text(word), .text(status.map(String.init) ?? "-"),
                .integer(time.milliseconds), .text(line), .text(wait.map { String(Int64($0 * 1000)) } ?? ""),
                .text(String(Double.random(in: 0...1))),
            ])
        let words = try answer.text().split(separator: " ")
        switch words.first {
        case "delivered": return .delivered
        case "failed": return .failed
        case "STALE": return .stale
        case "waiting" where words.count == 2:
            guard let due = Int64(words[1]) else { throw answer.unexpected }
            return .waiting(until: due)
        default: throw answer.unexpected
        }
    }

    /// Sends callbacks once more: those that are over, and those that wait for their next try.
    package func redeliver(_ ids: [String]) async throws(QueueError) -> [RedeliverAnswer] {
        var answers: [RedeliverAnswer] = []
        for part in try await run(QueueScript.redeliver, ids.map { .text($0) }).array(count: ids.count) {
            guard let answer = RedeliverAnswer(rawValue: try part.text()) else { throw part.unexpected }
            answers.append(answer)
        }
        return answers
    }

    /// Callbacks that are not over, the first due first, then those that are, the last first.
    package func callbacks(limit: Int) async throws(QueueError) -> [CallbackRecord] {
        let receivers = try await texts(["ZRANGE", .text(keys.callbacks), "0", .integer(Int64(limit - 1))])
        var places: [(id: String, due: Int64)] = []
        for receiver in receivers where places.count < limit {
            let reply = try await send([
                ["ZRANGE", .text(keys.callbacks(receiver)), "0", .integer(Int64(limit - 1)), "WITHSCORES"]
            ])[0]
            places += (reply.dictionary ?? [:]).map { ($0.key, $0.value.string.flatMap { Int64($0) } ?? 0) }
        }
        let first = places.sorted { ($0.due, $0.id) < ($1.due, $1.id) }.prefix(limit)
        var ids = first.map(\.id)
        if ids.count < limit {
            ids += try await texts(["ZREVRANGE", .text(keys.called), "0", .integer(Int64(limit - ids.count - 1))])
        }
        return try await records(ids, due: Dictionary(first.map { ($0.id, $0.due) }) { $1 })
    }

    /// The last callbacks of a job or of a group.
    package func callbacks(of subject: Callback.Subject) async throws(QueueError) -> [CallbackRecord] {
        let key =
            switch subject {
            case .job(let id): keys.job(id)
            case .group(let name): keys.group(name)
            }
        let ids = try await send([["HGET", .text(key), "called"]])[0].string ?? ""
        return try await records(ids.split(separator: " ").map(String.init).reversed())
    }

    private func records(
        _ ids: [String], due: [String: Int64] = [:]
    ) async throws(QueueError) -> [CallbackRecord] {
        var records: [CallbackRecord] = []
        let names = ["what", "job", "group", "url", "at", "state", "ended", "attempt", "token", "log", "receiver"]
        for start in stride(from: 0, to: ids.count, by: 500) {
            let some = Array(ids[start..<min(start + 500, ids.count)])
            let replies = try await send(
                some.map { RedisCommand(["HMGET", .text(keys.callback($0))] + names.map { .text($0) }) })
            for (id, reply) in zip(some, replies) {
                let pairs = zip(names, reply.array ?? []).compactMap { name, value in value.string.map { (name, $0) } }
                let hash = Dictionary(uniqueKeysWithValues: pairs)
                var moment = due[id]
                if moment == nil, hash["state"] == nil, let receiver = hash["receiver"] {
                    moment = try await send([["ZSCORE", .text(keys.callbacks(receiver)), .text(id)]])[0].integer
                }
                if let record = CallbackRecord(id: id, hash: hash, due: moment) { records.append(record) }
            }
        }
        return records
    }

    private func texts(_ command: RedisCommand) async throws(QueueError) -> [String] {
        (try await send([command])[0].array ?? []).compactMap(\.string)
    }

    private static func callback(_ part: ScriptAnswer, _ token: String) throws(QueueError) -> Callback {
        let fields = try part.array(count: 10)
        let name = try fields[3].text()
        let subject: Callback.Subject = try fields[2].text() == "job" ? .job(name) : .group(name)
        guard let at = Int64(try fields[6].text()) else { throw part.unexpected }
        return Callback(
            id: try fields[0].text(), token: token, attempt: try fields[1].integer(), subject: subject,
            what: try fields[4].text(), url: try fields[5].text(), at: at,
            content: content(of: subject, at, fields[7].value, fields[8].value, fields[9].value))
    }

    private static func content(
        of subject: Callback.Subject, _ at: Int64, _ hash: RedisValue, _ spec: RedisValue, _ result: RedisValue
    ) -> Callback.Content {
        let texts = hash.bytes.flatMap { try? JSONDecoder().decode([String].self, from: Data($0)) } ?? []
        let pairs = stride(from: 0, to: texts.count - 1, by: 2).map { (texts[$0], texts[$0 + 1]) }
        let fields = Dictionary(pairs) { $1 }
        switch subject {
        case .job(let id):
            return RawJob(id: id, hash: fields, spec, result).map { .job(JobRecord($0)) } ?? .unknown
        case .group(let name):
            return GroupRecord(name: name, hash: fields, readAt: at).map { .group($0) } ?? .unknown
        }
    }
}
