import JobSchema
import Jobs

/// An action on all jobs that match a filter. A dry run counts them and returns a confirmation, and only with that the action is
/// done. So it is done to the jobs of the very filter that was shown.
struct BulkAction {
    private let request: APIRequest
    private let queue: JobQueue
    private let body: BulkBody
    /// What is signed: the action, its filter and its changes.
    private let signed: [String]

    /// Seconds for which a confirmation is valid.
    private static let confirmationSeconds: Int64 = 300
    private static let maxSample = 5
    /// The maximum number of jobs that one request changes.
    static let maxJobs = 500
    /// The number of jobs that one call of the queue changes.
    private static let part = 50

    init(_ request: APIRequest, _ body: BulkBody) throws(Problem) {
        self.request = request
        self.body = body
        queue = try request.queue()
        try request.checkKeys(body.changes, at: "/set")
        signed = ["action", queue.name.text, request.token.name, body.signedText]
    }

    private struct Report: Encodable {
        let matched: Int
        let scanned: Int
        /// Whether more entries are to be looked at.
        let more: Bool
        var sample: [JobRecord] = []
        var results: [JobResult] = []
        @Nullable var confirm: String?
    }

    private struct JobResult: Encodable {
        let id: String
        let result: String
    }

    func run() async throws -> Reply {
        let start = try body.confirmation.map { text throws(Problem) in try position(text) }
        let search = try JobSearch(
            request, filters: body.filters, limit: start == nil ? JobQueue.maxScanned : body.limit)
        let page = try await search.page(from: start ?? nil, among: body.kind.states)
        guard start != nil else {
            return Reply(
                Report(
                    matched: page.jobs.count, scanned: page.scanned, more: page.next != nil,
                    sample: Array(page.jobs.prefix(Self.maxSample)), confirm: confirmation(after: "")))
        }
        if body.kind == .retry { await request.keepUploads(of: page.jobs) }
        let results = try await act(page.jobs.map(\.id))
        return Reply(
            Report(
                matched: page.jobs.count, scanned: page.scanned, more: page.next != nil, results: results,
                confirm: page.next.map { confirmation(after: $0) }), subjects: Self.changed(results))
    }

    /// The ids of the jobs that were changed.
    private static func changed(_ results: [JobResult]) -> [String] {
        results.filter { ["retried", "cancelled", "requested", "deleted"].contains($0.result) }.map(\.id)
    }

    /// Changes the jobs in small parts, so that the log says exactly what was done if Redis is lost in between.
    private func act(_ ids: [String]) async throws -> [JobResult] {
        var results: [JobResult] = []
        let size = body.kind == .delete ? 1 : Self.part
        for start in stride(from: 0, to: ids.count, by: size) {
            let part = Array(ids[start..<min(start + size, ids.count)])
            do {
                results += zip(part, try await words(part)).map { JobResult(id: $0, result: $1) }
            } catch {
                var problem = Problem(of: error)
                problem.done = PartialChange(subjects: Self.changed(results), unanswered: part)
                throw problem
            }
        }
        return results
    }

    /// What was done to each job.
    private func words(_ ids: [String]) async throws -> [String] {
        switch body.kind {
        case .cancel:
            return try await queue.cancel(ids).map(Self.word)
        case .retry:
            return try await queue.retry(ids, changes: body.changes)
                .map(Self.word)
        case .delete:
            var words: [String] = []
            for id in ids {
                words.append(Self.word(try await queue.remove(id)))
            }
            return words
        }
    }

    private static func word(_ answer: CancelAnswer) -> String {
        switch answer {
        case .cancelled: "cancelled"
        case .requested: "requested"
        case .tooLate: "too_late"
        case .unknown: "unknown"
        }
    }

    private static func word(_ answer: RetryAnswer) -> String {
        switch answer {
        case .retried: "retried"
        case .wrongState: "wrong_state"
        case .dedupHeld: "dedup_held"
        case .invalid: "invalid"
        case .unknown: "unknown"
        }
    }

    private static func word(_ answer: RemoveAnswer) -> String {
        switch answer {
        case .removed: "deleted"
        case .wrongState: "wrong_state"
        case .unknown: "unknown"
        }
    }

    /// A confirmation for the jobs after a position; it is the signature, then the position.
    private func confirmation(after position: String) -> String {
        let end = RequestSigner.now + Self.confirmationSeconds
        return "\(request.context.signer.sign(signed + [position], until: end)).\(position)"
    }

    /// The position of a confirmation; `nil` at the start.
    private func position(_ text: String) throws(Problem) -> String? {
        let words = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard words.count == 3,
            request.context.signer.isValid("\(words[0]).\(words[1])", for: signed + [words[2]])
        else {
            throw Problem(
                403, "confirm_denied", "`confirm` has expired, or is for another action or filter: repeat the dry run")
        }
        return words[2].isEmpty ? nil : words[2]
    }
}

/// The body of a request for an action on many jobs.
struct BulkBody: RequestBody {
    let kind: BulkChange
    let filters: [String: String]
    let changes: [String: String]
    let limit: Int
    /// `nil` for a dry run.
    let confirmation: String?
    /// The action, its filter and its changes as JSON.
    let signedText: String

    static let schema: JSONValue = [
        "type": "object", "additionalProperties": false, "required": ["action", "filter"],
        "properties": [
            "action": Schema.word(["retry", "cancel", "delete"]), "filter": ["type": "object", "minProperties": 1],
            "set": ["type": "object"], "limit": limit, "dry_run": Schema.boolean, "confirm": Schema.string,
        ],
    ]

    static let documentedSchema: JSONValue = ["oneOf": .array(Route.forms.keys.sorted().map(Schema.named))]

    /// The schema of the maximum number of jobs.
    static let limit: JSONValue = ["type": "integer", "minimum": 1, "maximum": .integer(Int64(BulkAction.maxJobs))]

    init(_ members: [String: JSONValue]) throws(Problem) {
        var parts: [Problem.Part] = []
        kind = BulkChange(rawValue: members["action"]?.field ?? "")!
        filters = Self.filters(members["filter"], &parts)
        if kind != .retry, members["set"] != nil { parts.append(.init("/set", "only retry takes `set`")) }
        var changes: [String: String] = [:]
        do throws(Problem) { changes = try Route.changes(in: members["set"]) } catch { parts += error.parts }
        self.changes = changes
        limit = members["limit"]?.field.flatMap { Int($0) } ?? 100
        confirmation = members["confirm"]?.field
        let isDry = members["dry_run"]?.field
        if confirmation == nil ? isDry != "true" : isDry == "true" {
            parts.append(.init("", "give either `dry_run`: true, or the `confirm` of its response"))
        }
        let signed = members.filter { !["dry_run", "confirm"].contains($0.key) }
        signedText = String(decoding: JSONBody.bytes(JSONValue.object(signed)), as: UTF8.self)
        guard parts.isEmpty else { throw .wrong(parts) }
    }

    private static func filters(_ value: JSONValue?, _ parts: inout [Problem.Part]) -> [String: String] {
        guard case .object(let members)? = value else { return [:] }
        var filters: [String: String] = [:]
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
            let pointer = "/filter/\(FieldText.escaped(name))"
            guard let parameter = JobSearch.filters.first(where: { $0.name == name }) else {
                parts.append(.init(pointer, "there is no filter `\(FieldText.shown(name))`"))
                continue
            }
            let text: String? =
                switch (member, parameter.form) {
                case (.integer(let number), .whole): "\(number)"
                case (_, .whole): nil
                case (.string(let text), _): text
                default: nil
                }
            guard let text, parameter.accepts(text) else {
                parts.append(.init(pointer, "`\(name)` must be \(parameter.expected)"))
                continue
            }
            filters[name] = text
        }
        return filters
    }
}
