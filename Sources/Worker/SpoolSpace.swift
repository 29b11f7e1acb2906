import Glibc
import Lifecycle
import SlotIPC

/// Measures the free space of the folders of spools, on a separate thread, because file systems may be slow or not respond at all.
struct SpoolSpace: Sendable {
    private let calls = BoundedCalls(label: "spool-space")

    /// Whether further sources may be fetched ahead; not if a file system does not respond in time.
    func suffices(_ policy: TransferPolicy, within timeout: Duration) async -> Bool {
        await calls.value(within: timeout) { policy.hasSpaceToPrefetch } ?? false
    }

    /// The free and all bytes of the folder's file system; `nil` if it does not respond in time. The corresponding C function is
    /// `statvfs`.
    func bytes(of folder: String, within timeout: Duration) async -> (free: Double, all: Double)? {
        await calls.value(within: timeout) {
            var system = statvfs()
            guard statvfs(folder, &system) == 0 else { return nil }
            let unit = Double(system.f_frsize)
            return (Double(system.f_bavail) * unit, Double(system.f_blocks) * unit)
        } ?? nil
    }
}
