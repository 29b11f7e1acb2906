import JobSchema
import Lifecycle
import SlotIPC

// When a server that says nothing is late.
extension RemoteRequest {
    /// When it is late, if nothing comes before; a paused one never is.
    func deadline(_ policy: TransferPolicy) -> ContinuousClock.Instant? {
        guard !isPaused, let last = lastActivity else { return nil }
        return last + .seconds(hasHead ? policy.stallTimeout : firstByteTimeout ?? policy.firstByteTimeout)
    }

    /// What is said of a request that is late.
    func lateness(_ policy: TransferPolicy) -> Failure {
        let (event, limit) =
            hasHead
            ? ("sent nothing more", policy.stallTimeout)
            : ("did not answer", firstByteTimeout ?? policy.firstByteTimeout)
        let seconds = Duration.seconds(limit).rounded
        return Failure(.sourceTimeout, "the server of '\(redactedURL(target.name))' \(event) for \(seconds) s")
    }
}
