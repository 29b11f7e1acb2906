/// The state of a job.
package enum JobState: String, Codable, Sendable, CaseIterable {
    /// In the inbox, not yet admitted.
    case queued
    case waiting, delayed, running, completed, failed, cancelled

    /// Whether the job has ended, unless it is retried.
    package var isTerminal: Bool {
        switch self {
        case .completed, .failed, .cancelled: true
        case .queued, .waiting, .delayed, .running: false
        }
    }
}
