import Lifecycle
import SlotIPC

/// Measures the free space of the folders of spools.
///
/// It uses a separate thread, because file systems may be slow.
actor SpoolSpace {
    private let executor = ThreadExecutor(label: "spool-space")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Whether further sources may be fetched ahead.
    func suffices(_ policy: TransferPolicy) -> Bool { policy.hasSpaceToPrefetch }
}
