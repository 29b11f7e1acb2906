package import JobSchema

/// What the jobs of a list have in common; a property that is `nil` restricts nothing.
package struct JobFilter: Sendable, Hashable {
    package var state: JobState?
    package var group: String?
    /// The error of the last attempt.
    package var code: ErrorCode?
    package var limitKey: String?
    /// `host:pid` of the worker that ran the job last, or its full name.
    package var worker: String?
    /// The beginning of the redacted source.
    package var source: String?
    /// A part of the id or of the redacted source.
    package var text: String?
    /// Seconds since the push, at least.
    package var age: Int?

    package init() {}

    /// The filter with values by the names that clients use; an unknown name restricts nothing.
    package init(_ values: [String: String]) {
        state = values["state"].flatMap(JobState.init)
        group = values["group"]
        code = values["code"].flatMap(ErrorCode.init)
        limitKey = values["limit_key"]
        worker = values["worker"]
        source = values["source"]
        text = values["q"]
        age = values["older_than"].flatMap { Int($0) }
    }

    /// Whether all jobs match.
    package var isEmpty: Bool { self == JobFilter() }

    /// Whether a text is a position in a list with this filter.
    package func accepts(position: String) -> Bool {
        group == nil ? JobCursor(text: position) != nil : GroupCursor(text: position) != nil
    }

    /// Whether a job matches at a time in ms since 1970.
    func matches(_ job: JobRecord, at now: Int64) -> Bool {
        if let state, job.state != state { return false }
        if let group, job.group != group { return false }
        if let code, job.error?.code != code { return false }
        if let limitKey, job.limitKey != limitKey { return false }
        if let worker, ![worker, WorkerRecord.shortName(worker)].contains(job.worker) { return false }
        if let source, job.source?.hasPrefix(source) != true { return false }
        if let text, !job.id.contains(text), job.source?.contains(text) != true { return false }
        if let age, now - job.createdAt < Int64(age) * 1000 { return false }
        return true
    }
}

/// What is done to all jobs of a filter.
package enum BulkChange: String, Sendable, CaseIterable {
    case retry, cancel, delete

    /// The states of the jobs that it is for.
    package var states: Set<JobState> {
        switch self {
        case .retry: [.failed, .cancelled]
        case .cancel: [.queued, .waiting, .delayed, .running]
        case .delete: Set(JobState.allCases).subtracting([.running])
        }
    }
}
