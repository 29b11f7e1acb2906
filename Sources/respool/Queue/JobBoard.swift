import JobSchema
import Jobs
import MediaTypes

/// What is known of a set of jobs.
struct JobBoard {
    let ids: [String]
    private(set) var records: [String: JobRecord] = [:]
    /// Ids that no job has, or has no more.
    private(set) var missing: [String] = []
    private var closed: Set<String> = []

    /// What happened to a job since it was seen last.
    struct Change {
        let id: String
        /// Nothing if there is no such job.
        let record: JobRecord?
    }

    init(_ ids: [String]) {
        var seen: Set<String> = []
        self.ids = ids.filter { seen.insert($0).inserted }
    }

    /// Ids of the jobs that are not over.
    var open: [String] { ids.filter { !closed.contains($0) } }

    var isFinished: Bool { closed.count == ids.count }

    /// Takes a job's record in; answers a change that is worth a line.
    mutating func update(_ id: String, _ record: JobRecord?) -> Change? {
        let before = records[id]
        guard let record else {
            missing.append(id)
            closed.insert(id)
            return Change(id: id, record: nil)
        }
        records[id] = record
        if record.state.isTerminal { closed.insert(id) }
        return Self.milestone(before) == Self.milestone(record) ? nil : Change(id: id, record: record)
    }

    /// What must differ between two lines: the state, the phase, the try, and each tenth of the way.
    private static func milestone(_ record: JobRecord?) -> [String] {
        guard let record else { return [] }
        let tenth = record.state == .running ? record.progress.map { String(Int($0 * 10)) } ?? "" : ""
        return [record.state.rawValue, record.phase?.rawValue ?? "", String(record.attempt), tenth]
    }
}
