import Lifecycle
import SlotIPC

/// The current files in which `respool-transfer` looks up names, certificates and keys.
///
/// It uses a separate thread, because file systems may be slow.
actor LookupFiles {
    static let shared = LookupFiles()

    private let executor = ThreadExecutor(label: "lookup-files")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The identities of the lookup files for children with the policy.
    func identities(_ policy: TransferPolicy) -> FileIdentities { FileIdentities(of: policy.lookups) }
}
