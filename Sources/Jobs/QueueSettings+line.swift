import Lifecycle

extension QueueSettings {
    /// The settings in the format that the scripts parse.
    var line: String {
        let numbers: [Int64] = [
            lease.milliseconds, Int64(maxCrashes), Int64(events), backoff.base.milliseconds, backoff.cap.milliseconds,
            longestRetryAfter.milliseconds,
        ]
        let kept = [("completed", done), ("failed", failed), ("cancelled", cancelled), ("called", called)]
            .map { name, retention in "\(name) \(retention.count) \(retention.age.milliseconds)" }
        return (numbers.map(String.init) + kept).joined(separator: " ")
    }
}
