import Jobs
import Lifecycle
import SlotProtocol

/// Pushes the jobs of a queue's schedules when they are due.
actor Timetable {
    private let queue: JobQueue
    private let log: Log
    /// What was said of schedules that cannot run, so that it is said once.
    private var complaints: Set<String> = []

    private var isRunning = false

    init(queue: JobQueue, log: Log) {
        self.queue = queue
        self.log = log
    }

    /// Returns at once while an earlier call is not done, which the next beat makes up for.
    func run() async {
        guard !isRunning else { return }
        isRunning = true
        defer { isRunning = false }
        do throws(QueueError) {
            for (name, result) in try await queue.runDueSchedules() {
                switch result {
                case .success(let id): log.info("scheduled", ["schedule": name, "job": id])
                case .failure(let failure):
                    complain("the schedule \(name) is left to other workers: \(failure.message)")
                }
            }
        } catch {
            complain("schedules are due, and wait: \(error)")
        }
    }

    private func complain(_ sentence: String) {
        if complaints.insert(sentence).inserted { log.error(sentence) }
    }
}
