import JobSchema
import Jobs

/// The jobs that a worker has claimed ahead, in the order in which they are converted: that of their claims, except that
/// one of a higher priority overtakes others of its queue. With queues in strict order, an earlier queue has priority too.
struct PrefetchedJobs {
    private var entries: [Entry] = []
    private let isStrict: Bool

    private struct Entry {
        let job: ActiveJob
        let queue: Int
        let priority: JobSpec.Priority
    }

    init(_ order: QueueOrder) { isStrict = order.weights == nil }

    var all: [ActiveJob] { entries.map(\.job) }

    func all(of queue: Int) -> [ActiveJob] { entries.filter { $0.queue == queue }.map(\.job) }

    mutating func insert(_ job: ActiveJob, of queue: Int) {
        let entry = Entry(job: job, queue: queue, priority: job.priority)
        let index = entries.firstIndex { follows($0, entry.priority, of: queue) } ?? entries.endIndex
        entries.insert(entry, at: index)
    }

    mutating func popFirst() -> ActiveJob? { entries.isEmpty ? nil : entries.removeFirst().job }

    mutating func remove(_ job: ActiveJob) { entries.removeAll { $0.job === job } }

    /// The last job that a job of the queue with that priority overtakes.
    func last(after priority: JobSpec.Priority, of queue: Int) -> ActiveJob? {
        entries.last { follows($0, priority, of: queue) }?.job
    }

    private func follows(_ entry: Entry, _ priority: JobSpec.Priority, of queue: Int) -> Bool {
        entry.queue == queue ? entry.priority.rawValue > priority.rawValue : isStrict && entry.queue > queue
    }
}

extension ActiveJob {
    fileprivate var priority: JobSpec.Priority { job.fields["priority"].flatMap { .init(name: $0) } ?? .normal }
}
