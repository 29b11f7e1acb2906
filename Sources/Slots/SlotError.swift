package import JobSchema

/// Why an operation of a session failed.
package enum SlotError: Error, Sendable {
    /// The job failed; the pair is still usable.
    case failed(Failure, log: [String])
    /// A child ended or timed out; the pair is replaced before the next job.
    case crashed(Failure, log: [String])
    /// The host cannot run any job now, whatever the job is: children cannot start, or a file system does not respond.
    case unavailable(Failure)
    /// `stop` was called.
    case stopped

    /// The failure to report.
    package var failure: Failure {
        switch self {
        case .failed(let failure, _), .crashed(let failure, _), .unavailable(let failure): failure
        case .stopped: Failure(.cancelled, "the conversion was stopped")
        }
    }

    /// libav's last lines.
    package var log: [String] {
        switch self {
        case .failed(_, let log), .crashed(_, let log): log
        case .stopped, .unavailable: []
        }
    }
}
