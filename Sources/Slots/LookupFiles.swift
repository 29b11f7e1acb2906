import Lifecycle
import SlotIPC

/// The files that `respool-transfer` looks names, certificates and keys up in, as they are now.
///
/// On a thread of its own, for a file system may take its time.
actor LookupFiles {
    static let shared = LookupFiles()

    private let executor = ThreadExecutor(label: "lookup-files")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Which files are there for children with the policy.
    func identities(_ policy: TransferPolicy) -> FileIdentities { FileIdentities(of: policy.lookups) }
}
