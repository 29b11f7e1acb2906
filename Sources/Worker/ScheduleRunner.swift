import JobSchema
import Jobs
import Lifecycle

/// Pushes the jobs of a queue's schedules when they are due.
actor ScheduleRunner {
    private let queue: JobQueue
    private let log: Log
    /// The errors that the last run logged, so that the next one does not repeat them.
    private var complaints: Set<String> = []
    private var isRunning = false

    init(queue: JobQueue, log: Log) {
        self.queue = queue
        self.log = log
    }

    /// Pushes the due jobs. Returns at once if an earlier call has not finished; the next beat tries again.
    func run() async {
        guard !isRunning else { return }
        isRunning = true
        defer { isRunning = false }
        var found: Set<String> = []
        do throws(QueueError) {
            for (name, result) in try await queue.runDueSchedules() {
                switch result {
                case .success(let id): log.info("scheduled", ["schedule": name, "job": id])
                case .failure(let failure):
                    found.insert("the schedule \(name) is skipped by this worker: \(failure.message)")
                }
            }
        } catch {
            found.insert("running due schedules failed, retrying: \(error)")
        }
        for sentence in found.subtracting(complaints).sorted() { log.error(sentence) }
        complaints = found
    }
}
