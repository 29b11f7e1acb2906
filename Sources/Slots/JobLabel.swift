import Synchronization

/// The job that a pair of children has in hand, or had last, for what is written down about them.
final class JobLabel: Sendable {
    private let state = Mutex("")

    /// Empty before the first job.
    var id: String {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
