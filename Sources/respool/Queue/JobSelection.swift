import JobSchema
import Jobs

/// The jobs selected for a command: by ids or by a filter.
struct JobSelection: Sendable {
    let connection: QueueConnection
    private let change: BulkChange
    private let ids: [String]
    private let filter: JobFilter
    private let consent: Consent
    private let isJSON: Bool

    /// The number of jobs in the sample.
    private static let maxSample = 5
    /// The number of jobs that are changed at a time.
    private static let page = 500

    /// `filter` is what the options give, and `fallback` the state of the jobs if they give none.
    init(
        _ arguments: Arguments, for change: BulkChange, _ filter: JobFilter, fallback: JobState? = nil
    ) throws(CommandFailure) {
        connection = try QueueConnection(arguments)
        ids = arguments.operands
        self.change = change
        isJSON = arguments.has(.json)
        if !filter.isEmpty, let id = ids.first {
            throw .usage("'\(id)' and a selection of jobs are mutually exclusive: give ids or a selection")
        }
        if filter.isEmpty {
            guard !ids.isEmpty else {
                throw .usage(
                    "missing id: give ids, or a filter such as --group NAME; `respool \(change.command) --help` lists them"
                )
            }
            guard !Consent.isGiven(arguments) else {
                throw .usage("--yes and --dry-run are for filters, and '\(ids[0])' is an id: leave them out")
            }
            consent = .given
        } else {
            consent = try Consent(arguments)
        }
        var filter = filter
        if !filter.isEmpty, filter.state == nil { filter.state = fallback }
        self.filter = filter
    }

    /// The state, if the selection is all jobs in one state without another condition, and needs no question.
    var wholeState: JobState? {
        var plain = JobFilter()
        plain.state = filter.state
        if case .given = consent, filter == plain { return filter.state }
        return nil
    }

    /// Whether nothing is to be changed.
    var isDryRun: Bool { if case .dryRun = consent { true } else { false } }

    /// Calls the body with up to 500 ids at a time, after the question if there is one. Returns a failure if the body returned
    /// false for any of them.
    func each(
        _ body: (QueueConnection, [String]) async throws(CommandFailure) -> Bool
    ) async throws(CommandFailure) -> ExitStatus {
        var isGood = true
        func change(_ ids: [String]) async throws(CommandFailure) {
            if try await !body(connection, ids) { isGood = false }
        }
        guard !filter.isEmpty else {
            for part in ids.parts(of: Self.page) { try await change(Array(part)) }
            return isGood ? .success : .failure
        }
        switch consent {
        case .given:
            try await connection.eachFound(filter, among: self.change.states) { jobs throws(CommandFailure) in
                try await change(jobs.map(\.id))
            }
        case .dryRun: try await preview().show(isJSON: isJSON)
        case .asked:
            // What was shown is changed, and no job that came later.
            let preview = try await preview()
            guard !preview.ids.isEmpty else {
                StandardStream.error("respool: no job matches\n")
                return .success
            }
            Terminal.error.write(JobList.lines(preview.sample, on: .error).map { $0 + "\n" }.joined())
            guard Consent.ask("\(self.change.command) \(Formatting.count(preview.ids.count, "job"))?") else {
                throw .failed("nothing was changed")
            }
            for part in preview.ids.parts(of: Self.page) { try await change(Array(part)) }
        }
        return isGood ? .success : .failure
    }

    private func preview() async throws(CommandFailure) -> SelectionPreview {
        var preview = SelectionPreview()
        try await connection.eachFound(filter, among: change.states) { jobs throws(CommandFailure) in
            preview.ids += jobs.map(\.id)
            preview.sample += jobs.prefix(Self.maxSample - preview.sample.count)
        }
        return preview
    }
}

/// The jobs that a change would be for.
private struct SelectionPreview {
    var ids: [String] = []
    /// The first ones.
    var sample: [JobRecord] = []

    private struct Report: Encodable {
        let matched: Int
        let sample: [JobRecord]
    }

    func show(isJSON: Bool) {
        if isJSON {
            StandardStream.output(JSONLine.text(Report(matched: ids.count, sample: sample)) + "\n")
        } else {
            let lines = [Formatting.count(ids.count, "job")] + JobList.lines(sample)
            StandardStream.output(lines.map { $0 + "\n" }.joined())
        }
    }
}

extension BulkChange {
    /// The command that does it.
    var command: String { self == .delete ? "purge" : rawValue }
}

extension QueueConnection {
    /// Calls the body with the jobs in some states that match a filter, a page at a time. The jobs of a group that are still in the
    /// inbox are admitted first.
    func eachFound(
        _ filter: JobFilter, among states: Set<JobState> = Set(JobState.allCases),
        _ body: ([JobRecord]) async throws(CommandFailure) -> Void
    ) async throws(CommandFailure) {
        if let group = filter.group {
            guard try await ask({ queue throws(QueueError) in try await queue.admitInbox(ofGroup: group) }) else {
                throw .noGroup(group)
            }
        }
        var next: String?
        repeat {
            let start = next
            let found = try await ask { queue throws(QueueError) in
                try await queue.find(filter, among: states, from: start, limit: 500)
            }
            if !found.jobs.isEmpty { try await body(found.jobs) }
            next = found.next
        } while next != nil
    }
}

extension CommandFailure {
    static func noGroup(_ name: String) -> CommandFailure {
        .failed("there is no group '\(name)': no job was pushed to it, or all its jobs are deleted")
    }
}
