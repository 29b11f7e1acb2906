package import JobSchema

/// How a slot's work can end badly.
package enum SlotError: Error, Sendable {
    /// The job failed, and the pair goes on.
    case failed(Failure, log: [String])
    /// A child died or fell silent; the pair is replaced before the next job.
    case crashed(Failure, log: [String])
    /// Somebody called `stop`.
    case stopped

    /// What to tell people, if there is something.
    package var failure: Failure {
        switch self {
        case .failed(let failure, _), .crashed(let failure, _): failure
        case .stopped: Failure(.cancelled, "the conversion was stopped")
        }
    }

    /// libav's last lines.
    package var log: [String] {
        switch self {
        case .failed(_, let log), .crashed(_, let log): log
        case .stopped: []
        }
    }
}
