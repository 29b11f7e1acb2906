import JobSchema
import Lifecycle

/// A callback and its attempts, as the queue stores them.
package struct CallbackRecord: Sendable, Hashable {
    /// The id of the delivery, the same for all attempts (`webhook-id`).
    package let id: String
    /// `job.completed`, `job.failed`, `job.cancelled` or `group.finished`.
    package let what: String
    /// The job or group that the callback is about.
    package let subject: Callback.Subject
    /// Without parts that may be secret.
    package let url: String
    /// The state of the delivery.
    package let state: State
    /// The number of attempts so far.
    package let attempt: Int
    /// Milliseconds since 1970, like the other times.
    package let at: Int64
    /// When the next attempt is due.
    package let dueAt: Int64?
    /// When the delivery reached a final state.
    package let endedAt: Int64?
    /// The finished attempts, oldest first.
    package let log: [Line]

    /// The states of a delivery; the last two are terminal.
    package enum State: String, Sendable, CaseIterable {
        case waiting, sending, delivered, failed
    }

    /// One attempt.
    package struct Line: Sendable, Hashable {
        /// When the attempt ended.
        package let at: Int64
        /// The HTTP status; `nil` if there was no response.
        package let status: Int?
        /// Milliseconds until the response.
        package let took: Int
        /// Why the attempt failed, or `delivered`.
        package let message: String
    }

    /// Creates a record from the hash of a delivery; `due` is its due time if it is unfinished.
    init?(id: String, hash: [String: String], due: Int64?) {
        guard let what = hash["what"], let url = hash["url"], let at = hash["at"].flatMap({ Int64($0) }) else {
            return nil
        }
        self.id = id
        self.what = what
        self.url = redactedURL(url)
        self.at = at
        subject = hash["job"].map { .job($0) } ?? .group(hash["group"] ?? "")
        state = hash["state"].flatMap(State.init) ?? (hash["token"] == nil ? .waiting : .sending)
        attempt = hash["attempt"].flatMap { Int($0) } ?? 0
        dueAt = state == .waiting ? due : nil
        endedAt = hash["ended"].flatMap { Int64($0) }
        log = (hash["log"] ?? "").split(separator: "\n").compactMap { Line(text: $0) }
    }
}

extension CallbackRecord.Line {
    fileprivate init?(text: Substring) {
        let words = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4, let at = Int64(words[0]), let took = Int(words[2]) else { return nil }
        self.init(at: at, status: Int(words[1]), took: took, message: String(words[3]))
    }
}

extension CallbackRecord: Encodable {
    private enum CodingKeys: String, CodingKey {
        case id, type, job, group, url, state, attempt, log
        case at = "created_at"
        case dueAt = "due_at"
        case endedAt = "finished_at"
    }

    private struct Entry: Encodable {
        let at: String
        @Nullable var status: Int?
        /// Seconds.
        let seconds: Double
        let message: String
    }

    /// Writes every key; values that do not apply are `null`.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(what, forKey: .type)
        try container.encode(subject.job, forKey: .job)
        try container.encode(subject.group, forKey: .group)
        try container.encode(url, forKey: .url)
        try container.encode(state.rawValue, forKey: .state)
        try container.encode(attempt, forKey: .attempt)
        try container.encode(WallClock.timestamp(milliseconds: at), forKey: .at)
        try container.encode(dueAt.map { WallClock.timestamp(milliseconds: $0) }, forKey: .dueAt)
        try container.encode(endedAt.map { WallClock.timestamp(milliseconds: $0) }, forKey: .endedAt)
        let entries = log.map {
            Entry(
                at: WallClock.timestamp(milliseconds: $0.at), status: $0.status, seconds: Double($0.took) / 1000,
                message: $0.message)
        }
        try container.encode(entries, forKey: .log)
    }
}

extension Callback.Subject {
    /// The id of a job; `nil` for a group.
    package var job: String? { if case .job(let id) = self { id } else { nil } }

    /// The name of a group; `nil` for a job.
    package var group: String? { if case .group(let name) = self { name } else { nil } }
}
