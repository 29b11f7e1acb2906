import JobSchema
import Jobs

/// An action on all jobs that match a filter. A dry run counts them and returns a confirmation, and only with that the action is
/// done. So it is done to the jobs of the very filter that was shown.
struct BulkAction {
    private let request: APIRequest
    private let queue: JobQueue
    private let kind: BulkChange
    private let filters: [String: String]
    private let changes: [String: String]
    private let limit: Int
    /// `nil` for a dry run.
    private let confirmation: String?
    /// What is signed: the action, its filter and its changes.
    private let signed: [String]

    /// Seconds for which a confirmation is valid.
    private static let confirmationSeconds: Int64 = 300
    private static let maxSample = 5
    /// The maximum number of jobs that one request changes.
    static let maxJobs = 500
    /// The number of jobs that one call of the queue changes.
    private static let part = 50

    init(_ request: APIRequest) throws(Problem) {
        self.request = request
        queue = try request.queue()
        guard case .object(var members) = try request.json() else { throw Self.wrong("", "the body must be an object") }
        guard members.keys.allSatisfy({ ["action", "filter", "set", "limit", "dry_run", "confirm"].contains($0) })
        else {
            throw Self.wrong(
                "", "the body has `action`, `filter`, `set`, `limit`, `dry_run` and `confirm`, and nothing else")
        }
        guard case .string(let name)? = members["action"], let kind = BulkChange(rawValue: name) else {
            throw Self.wrong("/action", "`action` must be retry, cancel or delete")
        }
        self.kind = kind
        filters = try Self.filters(members["filter"])
        guard kind == .retry || members["set"] == nil else { throw Self.wrong("/set", "only retry takes `set`") }
        changes = try Route.changes(in: members["set"])
        try request.checkKeys(changes, at: "/set")
        limit = try Self.limit(members["limit"])
        switch (members["dry_run"], members["confirm"]) {
        case (.boolean(true)?, nil): confirmation = nil
        case (nil, .string(let text)?), (.boolean(false)?, .string(let text)?): confirmation = text
        default: throw Self.wrong("", "give either `dry_run`: true, or the `confirm` of its response")
        }
        (members["dry_run"], members["confirm"]) = (nil, nil)
        let text = String(decoding: JSONBody.bytes(JSONValue.object(members)), as: UTF8.self)
        signed = ["action", queue.name.text, request.token.name, text]
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
        let start = try confirmation.map { text throws(Problem) in try position(text) }
        let search = try JobSearch(request, filters: filters, limit: start == nil ? JobQueue.maxScanned : limit)
        let page = try await search.page(from: start ?? nil, among: kind.states)
        guard start != nil else {
            return Reply(
                Report(
                    matched: page.jobs.count, scanned: page.scanned, more: page.next != nil,
                    sample: Array(page.jobs.prefix(Self.maxSample)), confirm: confirmation(after: "")))
        }
        if kind == .retry { await request.keepUploads(of: page.jobs) }
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
        let size = kind == .delete ? 1 : Self.part
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
        switch kind {
        case .cancel:
            return try await queue.cancel(ids).map(Self.word)
        case .retry:
            return try await queue.retry(ids, changes: changes)
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

    private static func filters(_ value: JSONValue?) throws(Problem) -> [String: String] {
        guard case .object(let members)? = value, !members.isEmpty else {
            throw wrong("/filter", "`filter` must be an object with at least one filter of the list of jobs")
        }
        var filters: [String: String] = [:]
        for (name, member) in members {
            let pointer = "/filter/\(FieldText.escaped(name))"
            guard let parameter = JobSearch.filters.first(where: { $0.name == name }) else {
                throw wrong(pointer, "there is no filter `\(FieldText.shown(name))`")
            }
            let text: String? =
                switch (member, parameter.form) {
                case (.integer(let number), .whole): "\(number)"
                case (_, .whole): nil
                case (.string(let text), _): text
                default: nil
                }
            guard let text, parameter.accepts(text) else {
                throw wrong(pointer, "`\(name)` must be \(parameter.expected)")
            }
            filters[name] = text
        }
        return filters
    }

    private static func limit(_ value: JSONValue?) throws(Problem) -> Int {
        guard let value else { return 100 }
        guard case .integer(let number) = value, (1...Int64(maxJobs)).contains(number) else {
            throw wrong("/limit", "`limit` must be a whole number from 1 to \(maxJobs)")
        }
        return Int(number)
    }

    private static func wrong(_ pointer: String, _ message: String) -> Problem {
        .wrong([.init(pointer: pointer, code: "invalid_request", message: message)])
    }
}
