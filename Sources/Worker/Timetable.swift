import Jobs
import Lifecycle
import SlotProtocol

/// Pushes the jobs of a queue's schedules when they are due.
actor Timetable {
    private let queue: JobQueue
    private let contact: Contact
    private let log: Log
    /// What was said of schedules that cannot be read here.
    private var complaints: Set<String> = []

    init(queue: JobQueue, contact: Contact, log: Log) {
        self.queue = queue
        self.contact = contact
        self.log = log
    }

    func run() async {
        do throws(QueueError) {
            for (name, result) in try await queue.runDueSchedules() {
                switch result {
                case .success(let id): log.info("scheduled", ["schedule": name, "job": id])
                case .failure(let failure):
                    let complaint = "the schedule \(name) is left to other workers: \(failure.message)"
                    if complaints.insert(complaint).inserted { log.error(complaint) }
                }
            }
        } catch {
            contact.failed("schedule", queue.name, error)
        }
    }
}
