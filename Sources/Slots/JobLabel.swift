import Synchronization

/// The current or last job of a pair of children, for log lines about them.
final class JobLabel: Sendable {
    private let state = Mutex("")

    /// Empty before the first job.
    var id: String {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
