import FoundationEssentials
import JobSchema
import MediaTypes

extension JobRecord {
    init(_ raw: RawJob) {
        let hash = raw.hash
        func integer(_ name: String) -> Int64? { hash[name].flatMap { Int64($0) } }
        let progress = ProgressText.decode(hash["progress"] ?? "")
        let state = raw.state
        let isShown = state == .running || state.isTerminal
        let isDone = state == .completed
        self.init(
            id: raw.id, state: state, phase: state == .running ? hash["phase"].flatMap(Phase.init) : nil,
            progress: isDone ? 1 : isShown ? progress?.fraction : nil,
            position: isDone ? progress?.duration ?? progress?.position : isShown ? progress?.position : nil,
            duration: isShown ? progress?.duration : nil, speed: isShown ? progress?.speed : nil,
            estimated: state == .running && progress?.estimated == true,
            eta: state == .running ? progress?.eta : nil,
            attempt: Int(integer("attempt") ?? 0), attempts: Self.attempts(raw), crashes: Int(integer("crashes") ?? 0),
            priority: raw.fields["priority"] ?? "normal", group: Self.group(raw),
            source: raw.fields["source"].map(redactedURL),
            format: Self.format(raw.fields), worker: isShown ? hash["worker"].map(WorkerRecord.shortName) : nil,
            createdAt: integer("created") ?? Self.moment(ofID: raw.id), startedAt: integer("started"),
            finishedAt: state.isTerminal ? integer("finished") : nil, dueAt: state == .delayed ? integer("due") : nil,
            outputProgress: state == .running ? progress.flatMap { $0.outputs.isEmpty ? nil : $0.outputs } : nil,
            outputs: isDone || state == .failed ? raw.outputs : nil, error: isDone ? nil : Self.failure(hash),
            traceParent: raw.fields["traceparent"], limitKey: raw.fields["limit_key"],
            history: AttemptRecord.all(state, hash), isParked: hash["parked"] != nil)
    }

    /// The time at the beginning of an id, in milliseconds since 1970.
    static func moment(ofID id: String) -> Int64 { Int64(id.prefix { $0 != "-" }) ?? 0 }

    /// The format, or those of several outputs, as in `mp3+flac`.
    package static func format(_ fields: [String: String]) -> String? {
        guard let text = fields["outputs"],
            let outputs = try? JSONDecoder().decode([[String: JSONValue]].self, from: Data(text.utf8))
        else { return fields["format"] }
        let formats = outputs.compactMap { $0["format"]?.field ?? fields["format"] }
        return formats.isEmpty ? nil : formats.joined(separator: "+")
    }

    /// The group that the job belongs to, or will join when it is admitted.
    private static func group(_ raw: RawJob) -> String? {
        raw.state == .queued ? raw.fields["group"] : raw.hash["group"]
    }

    private static func attempts(_ raw: RawJob) -> Int {
        raw.hash["attempts"].flatMap { Int($0) } ?? raw.fields["attempts"].flatMap { Int($0) } ?? 5
    }

    private static func failure(_ hash: [String: String]) -> Failure? {
        guard let code = hash["error_code"] else { return nil }
        return Failure(
            ErrorCode(rawValue: code) ?? .internal, hash["error"] ?? "", retryable: hash["retryable"] == "1",
            fields: hash["error_fields"].flatMap {
                try? JSONDecoder().decode([WrongField].self, from: Data($0.utf8))
            })
    }
}
