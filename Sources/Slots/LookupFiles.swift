import Configuration
import Lifecycle
import SlotIPC

/// The current files in which `respool-transfer` looks up names, certificates and keys, and the folders of jobs.
///
/// It uses a separate thread, because file systems may be slow.
actor LookupFiles {
    static let shared = LookupFiles()

    private let executor = ThreadExecutor(label: "lookup-files")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The identities of the lookup files for children with the policy.
    func identities(_ policy: TransferPolicy) -> FileIdentities { FileIdentities(of: policy.lookups) }

    /// The identities of the lookup files and of the folders.
    func all(_ policy: TransferPolicy) -> SandboxedFiles {
        SandboxedFiles(lookups: identities(policy), folders: FileIdentities(of: policy.folders))
    }

    /// Why the folders of jobs cannot be used; `nil` if they can.
    func folderProblem(_ policy: TransferPolicy) -> String? {
        do throws(SettingError) { try policy.checkFolders() } catch { return error.message }
        return nil
    }
}

/// The files and folders to which the sandbox of a running child is bound.
struct SandboxedFiles: Hashable, Sendable {
    let lookups: FileIdentities
    let folders: FileIdentities
}
