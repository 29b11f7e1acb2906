/// What the exit status tells the caller.
enum ExitCode: Int32 {
    case success = 0
    /// Cut short, unhealthy, or unable to start.
    case failure = 1
    /// Wrong usage, or a setting that cannot be read.
    case usage = 2
    /// Redis refuses this worker.
    case redis = 3
}
