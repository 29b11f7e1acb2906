package import JobSchema
import Lifecycle
package import SlotIPC

// Timeouts of a server that sends nothing.
extension RemoteRequest {
    /// When the request times out if nothing arrives before; `nil` while it is paused.
    package func deadline(_ policy: TransferPolicy) -> ContinuousClock.Instant? {
        guard !isPaused, let last = lastActivity else { return nil }
        return last + .seconds(hasHead ? policy.stallTimeout : firstByteTimeout ?? policy.firstByteTimeout)
    }

    /// The failure of a request that has timed out.
    package func lateness(_ policy: TransferPolicy) -> Failure {
        let (event, limit) =
            hasHead
            ? ("sent nothing more", policy.stallTimeout)
            : ("did not respond", firstByteTimeout ?? policy.firstByteTimeout)
        let seconds = Duration.seconds(limit).rounded
        return Failure(.sourceTimeout, "the server of '\(redactedURL(target.name))' \(event) for \(seconds) s")
    }
}
