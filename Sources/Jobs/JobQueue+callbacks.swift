import FoundationEssentials
import JobSchema
import Lifecycle
import Redis
import Text

extension JobQueue {
    /// How long a sender owns a claimed callback.
    package static let callbackTerm: Duration = .seconds(60)

    /// Claims up to `count` due callbacks, at most two per receiver over all senders. Repeated with the same token,
    /// returns the same ones.
    package func claimCallbacks(count: Int, token: String = Nonce.random()) async throws(QueueError) -> [Callback] {
        let answer = try await run(
            QueueScript.claimCallbacks,
            [.text(token), .integer(Int64(count)), .integer(Self.callbackTerm.milliseconds)])
        var callbacks: [Callback] = []
        for part in try answer.array() { callbacks.append(try Callback(unpacking: part, token: token)) }
        return callbacks
    }

    /// Finishes one attempt of a callback that took `time`; a repeated call gets the same answer.
    package func finishCallback(
        _ callback: Callback, _ outcome: CallbackOutcome, after time: Duration
    ) async throws(QueueError) -> FinishCallbackAnswer {
        let (word, status, sentence, wait): (String, Int?, String, Double?) =
            switch outcome {
            case .delivered(let status): ("delivered", status, "delivered", nil)
            case .again(let sentence, let status, let wait): ("again", status, sentence, wait)
            case .refused(let sentence, let status): ("failed", status, sentence, nil)
            case .released(let sentence): ("released", nil, sentence, nil)
            }
        let line = sentence.split(whereSeparator: \.isNewline).joined(separator: " ").prefix(utf8Bytes: 300)
        let answer = try await run(
            QueueScript.finishCallback,
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

    /// Sends callbacks again: finished ones, and those that wait for their next attempt.
    package func redeliver(_ ids: [String]) async throws(QueueError) -> [RedeliverAnswer] {
        var answers: [RedeliverAnswer] = []
        for part in try await run(QueueScript.redeliver, ids.map { .text($0) }).array(count: ids.count) {
            guard let answer = RedeliverAnswer(rawValue: try part.text()) else { throw part.unexpected }
            answers.append(answer)
        }
        return answers
    }

    /// Unfinished callbacks, the first due first, then finished ones, the latest first.
    package func callbacks(limit: Int) async throws(QueueError) -> [CallbackRecord] {
        let last = RedisArgument.integer(Int64(limit - 1))
        // A busy receiver comes after others, although some of its callbacks may have been due earlier.
        let replies = try await send([
            ["ZRANGE", .text(keys.callbacks), "0", "999"], ["ZREVRANGE", .text(keys.called), "0", last],
        ]).map { ($0.array ?? []).compactMap(\.string) }
        let places = try await send(
            replies[0].map { ["ZRANGE", .text(keys.callbacks($0)), "0", last, "WITHSCORES"] }
        ).flatMap { ($0.dictionary ?? [:]).map { (id: $0.key, due: $0.value.integer ?? 0) } }
        let first = places.sorted { ($0.due, $0.id) < ($1.due, $1.id) }.prefix(limit)
        let ids = first.map(\.id) + replies[1].prefix(limit - first.count)
        return try await records(ids, due: Dictionary(first.map { ($0.id, $0.due) }) { $1 })
    }

    /// The latest callbacks of a job or of a group.
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
            let hashes = replies.map { reply in
                let pairs = zip(names, reply.array ?? []).compactMap { name, value in value.string.map { (name, $0) } }
                return Dictionary(uniqueKeysWithValues: pairs)
            }
            let unknown = zip(some, hashes).filter { id, hash in
                due[id] == nil && hash["state"] == nil && hash["receiver"] != nil
            }
            let scores = try await send(
                unknown.map { id, hash in ["ZSCORE", .text(keys.callbacks(hash["receiver"]!)), .text(id)] })
            let due = zip(unknown, scores).reduce(into: due) { $0[$1.0.0] = $1.1.integer }
            records += zip(some, hashes).compactMap { id, hash in CallbackRecord(id: id, hash: hash, due: due[id]) }
        }
        return records
    }
}

extension Callback {
    /// Decodes a delivery as `claim_callbacks.lua` packs it.
    init(unpacking answer: ScriptAnswer, token: String) throws(QueueError) {
        var parts = try answer.parts()
        id = try parts.text()
        self.token = token
        attempt = try parts.integer()
        let kind = try parts.text()
        let name = try parts.text()
        subject = kind == "job" ? .job(name) : .group(name)
        what = try parts.text()
        url = try parts.text()
        guard let at = Int64(try parts.text()) else { throw answer.unexpected }
        self.at = at
        let hash = try parts.next().value
        let spec = try parts.next().value
        let result = try parts.next().value
        content = Self.content(of: subject, at, hash, spec, result)
        takenAt = Int64(try parts.integer())
    }

    private static func content(
        of subject: Subject, _ at: Int64, _ hash: RedisValue, _ spec: RedisValue, _ result: RedisValue
    ) -> Content {
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
