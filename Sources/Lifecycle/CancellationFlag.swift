import Synchronization

/// A flag that any thread, and any C callback, may read while another raises it.
package final class CancellationFlag: Sendable {
    private let raised = Atomic(false)

    package init() {}

    package var isRaised: Bool { raised.load(ordering: .acquiring) }

    /// Raises the flag, for good.
    package func raise() { raised.store(true, ordering: .releasing) }
}
