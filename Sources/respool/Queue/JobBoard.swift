import JobSchema
import Jobs
import MediaTypes

/// The last known records of a set of jobs.
struct JobBoard {
    let ids: [String]
    private(set) var records: [String: JobRecord] = [:]
    /// Ids of jobs that do not exist, or no longer exist.
    private(set) var missing: [String] = []
    private var closed: Set<String> = []

    /// A change of a job since the last update.
    struct Change {
        let id: String
        /// `nil` if the job does not exist.
        let record: JobRecord?
    }

    init(_ ids: [String]) {
        var seen: Set<String> = []
        self.ids = ids.filter { seen.insert($0).inserted }
    }

    /// Ids of the jobs that have not ended.
    var open: [String] { ids.filter { !closed.contains($0) } }

    var isFinished: Bool { closed.count == ids.count }

    /// Takes in a job's record; returns the change if it is worth a line.
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

    /// Values whose change causes another line: state, phase, attempt, and each tenth of the progress.
    private static func milestone(_ record: JobRecord?) -> [String] {
        guard let record else { return [] }
        let tenth = record.state == .running ? record.progress.map { String(Int($0 * 10)) } ?? "" : ""
        return [record.state.rawValue, record.phase?.rawValue ?? "", String(record.attempt), tenth]
    }
}
