import Synchronization

/// A flag that any thread or C callback may read while another sets it.
package final class CancellationFlag: Sendable {
    private let raised = Atomic(false)

    package init() {}

    /// Whether the flag is set.
    package var isRaised: Bool { raised.load(ordering: .acquiring) }

    /// Sets the flag; it cannot be cleared.
    package func raise() { raised.store(true, ordering: .releasing) }
}
