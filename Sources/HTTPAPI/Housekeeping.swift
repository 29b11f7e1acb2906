import JobSchema
package import Jobs
package import Lifecycle
import Synchronization

/// Admits and promotes jobs and runs schedules each second, also while no worker runs.
package final class Housekeeping: Sendable {
    private let queues: [JobQueue]
    private let uploads: UploadFolder?
    private let previews: PreviewFolder?
    private let log: Log
    private let state = Mutex(State())

    /// No name of a queue has a blank at its start.
    private static let uploadSubject = " uploads"

    private struct State {
        /// When each queue responded last.
        var responded: [String: ContinuousClock.Instant] = [:]
        var complaints: Set<String> = []
    }

    package init(queues: [JobQueue], uploads: UploadFolder? = nil, previews: PreviewFolder? = nil, log: Log) {
        self.queues = queues
        self.uploads = uploads
        self.previews = previews
        self.log = log
    }

    /// Whether each queue responded within the last seconds.
    package var isReady: Bool {
        let responded = state.withLock { $0.responded }
        return queues.allSatisfy { responded[$0.name.text].map { .now - $0 < .seconds(4) } ?? false }
    }

    /// Runs until the task is cancelled.
    package func run() async {
        await withTaskGroup { group in
            if uploads != nil || previews != nil {
                group.addTask {
                    while !Task.isCancelled {
                        await self.removeExpired()
                        try? await Task.sleep(for: .seconds(60))
                    }
                }
            }
            for queue in queues {
                group.addTask {
                    while !Task.isCancelled {
                        await self.maintain(queue)
                        try? await Task.sleep(for: .seconds(1))
                    }
                }
            }
        }
    }

    private func maintain(_ queue: JobQueue) async {
        do throws(QueueError) {
            for lost in try await queue.runMaintenance() {
                log.warning("lost lease", ["job": lost.job, "worker": lost.worker, "state": lost.state.rawValue])
            }
            state.withLock { state in
                state.responded[queue.name.text] = .now
                state.complaints.remove(queue.name.text)
            }
            for (name, result) in try await queue.runDueSchedules() {
                let subject = "\(queue.name.text) \(name)"
                switch result {
                case .success(let id):
                    log.info("scheduled", ["schedule": name, "job": id])
                    state.withLock { _ = $0.complaints.remove(subject) }
                case .failure(let failure): complain("the schedule \(name) is skipped: \(failure.message)", subject)
                }
            }
        } catch {
            complain("Redis does not respond, retrying: \(error)", queue.name.text)
        }
    }

    private func removeExpired() async {
        let (uploads, previews) = (uploads, previews)
        do throws(Problem) {
            let removed = try await withBlocking { () throws(Problem) in
                (previews: previews?.removeExpired() ?? [], uploads: try uploads?.removeExpired() ?? [])
            }
            for id in removed.uploads { log.info("expired", ["upload": id]) }
            for name in removed.previews { log.info("expired", ["preview": name]) }
            state.withLock { _ = $0.complaints.remove(Self.uploadSubject) }
        } catch {
            complain(error.detail, Self.uploadSubject)
        }
    }

    /// Logs a problem once, until its subject works again.
    private func complain(_ sentence: String, _ subject: String) {
        if state.withLock({ $0.complaints.insert(subject).inserted }) { log.warning(sentence) }
    }
}
