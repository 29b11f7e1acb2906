import Configuration
import Lifecycle
import SlotIPC
import Synchronization

/// The current files in which `respool-transfer` looks up names, certificates and keys, and the folders of jobs.
///
/// Both are read on separate threads, because file systems may be slow, or not respond at all.
final class LookupFiles: Sendable {
    static let shared = LookupFiles()

    private let lookups = BoundedCalls(label: "lookup-files")
    private let folders = BoundedCalls(label: "folders-of-jobs")
    /// The folder that was examined last.
    private let examined = Mutex("")

    /// The identities of the lookup files for children with the policy; `nil` if a file system does not respond in time.
    func identities(_ policy: TransferPolicy, within timeout: Duration) async -> FileIdentities? {
        await lookups.value(within: timeout) { FileIdentities(of: policy.lookups) }
    }

    /// The identities of the lookup files and of the folders; `nil` if a file system does not respond in time.
    func all(_ configuration: SlotConfiguration) async -> SandboxedFiles? {
        let (policy, timeout) = (configuration.policy, configuration.folderTimeout)
        async let found = identities(policy, within: timeout)
        let folders = await folders.value(within: timeout) { [self] in
            FileIdentities(of: policy.folders) { folder in examined.withLock { $0 = folder } }
        }
        guard let lookups = await found, let folders else { return nil }
        return SandboxedFiles(lookups: lookups, folders: folders)
    }

    /// Why the folders of jobs cannot be used; `nil` if they can.
    func folderProblem(_ configuration: SlotConfiguration) async -> FolderProblem? {
        let policy = configuration.policy
        let found = await folders.value(within: configuration.folderTimeout) { [self] in
            do throws(SettingError) {
                try policy.checkFolders { folder in examined.withLock { $0 = folder } }
                return String?.none
            } catch { return error.message }
        }
        guard let found else { return .noResponse(of: examined.withLock { $0 }) }
        return found.map { .unusable($0) }
    }
}

/// The files and folders to which the sandbox of a running child is bound.
struct SandboxedFiles: Hashable, Sendable {
    let lookups: FileIdentities
    let folders: FileIdentities
}

/// Why the folders of jobs cannot be used.
package enum FolderProblem: Sendable, CustomStringConvertible {
    /// One is missing, or its rights do not suffice.
    case unusable(String)
    /// The file system of a folder does not respond, so that jobs which use it would wait for ever.
    case noResponse(of: String)

    package var description: String {
        switch self {
        case .unusable(let message): message
        case .noResponse(let folder):
            "the file system of the folder '\(folder)' does not respond: check its server, or mount it again"
        }
    }
}
