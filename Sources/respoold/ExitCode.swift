/// The exit status of `respoold`.
enum ExitCode: Int32 {
    case success = 0
    /// Interrupted, unhealthy, or unable to start.
    case failure = 1
    /// Wrong usage or an invalid setting.
    case usage = 2
    /// Redis refuses this worker.
    case redis = 3
}
