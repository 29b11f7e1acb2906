import FoundationEssentials
import JobSchema
import Redis

/// A job as Redis stores it.
struct RawJob {
    let id: String
    let state: JobState
    /// The job's hash; empty while it is in the inbox.
    let hash: [String: String]
    /// The job as it was pushed.
    let fields: [String: String]
    let outputs: [OutputReport]?

    /// Creates a job from the replies to `HGETALL`, `GET spec` and `GET result`.
    init?(id: String, _ hash: RedisValue, _ spec: RedisValue, _ result: RedisValue) {
        self.init(id: id, hash: (hash.dictionary ?? [:]).compactMapValues(\.string), spec, result)
    }

    /// Creates a job from its hash, and the texts of its spec and result.
    init?(id: String, hash: [String: String], _ spec: RedisValue, _ result: RedisValue) {
        guard let state = hash["state"].flatMap(JobState.init) else { return nil }
        self.id = id
        self.state = state
        self.hash = hash
        fields = spec.bytes.map(SpecText.decode) ?? [:]
        outputs = result.bytes.flatMap { try? JSONDecoder().decode([OutputReport].self, from: Data($0)) }
    }

    /// Creates a job from an entry of the inbox; `nil` if the entry is a bell or a seal.
    init?(_ entry: InboxEntry) {
        guard entry.fields["_bell"] == nil, entry.fields["_seal"] == nil else { return nil }
        id = entry.id
        state = .queued
        hash = [:]
        fields = entry.fields
        outputs = nil
    }
}
