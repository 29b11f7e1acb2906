import JobSchema
import Jobs
import Lifecycle
import MediaTypes

/// The entry of a job's log for one attempt: libav's last lines, warnings, and the outcome.
enum AttemptLog {
    /// The lines; empty for a first attempt that completes without warnings.
    static func lines(
        of job: ClaimedJob, _ outcome: Outcome, libav: [String], after duration: Duration
    ) -> [String] {
        let lines = libav + words(of: outcome.reports)
        let isPlain = outcome.failure == nil && job.attempt == 1 && job.crashes == 0
        guard !isPlain || !lines.isEmpty else { return [] }
        let attempt = "attempt \(job.attempt) of \(job.attempts) \(outcome.name) after \(duration.rounded) s"
        let reason = outcome.failure.map { ": \($0.message) (\($0.code.rawValue))" } ?? ""
        return lines + ["\(WallClock.timestamp()) \(attempt)\(reason)"]
    }

    private static func words(of reports: [OutputReport]) -> [String] {
        reports.enumerated().flatMap { index, report in
            let location = reports.count > 1 ? "outputs[\(index)]: " : ""
            let error = report.error.map { ["\(location)\($0.message) (\($0.code.rawValue))"] } ?? []
            return report.warnings.map { "\(location)warning: \($0.message) (\($0.code))" } + error
        }
    }
}
