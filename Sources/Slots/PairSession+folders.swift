package import JobSchema
import Synchronization

// What the host of a slot lacks to run jobs.
extension PairSession {
    /// Whether the folders of jobs cannot be used, or are no longer those that the children can access.
    package func hasLostFolders() async -> Bool {
        if await LookupFiles.shared.folderProblem(configuration) != nil { return true }
        return await shared.withLock { $0.pair }?.hasLostFolders(configuration) ?? false
    }

    /// Whether the file system of a folder of jobs does not respond.
    package func hasNoResponse() async -> Bool {
        if case .noResponse? = await LookupFiles.shared.folderProblem(configuration) { true } else { false }
    }

    /// Why no slot with the configuration can use the folders of jobs; `nil` if they can be used.
    package static func folderProblem(_ configuration: SlotConfiguration) async -> FolderProblem? {
        await LookupFiles.shared.folderProblem(configuration)
    }

    /// Why the children could not be started the last time; `nil` if they could.
    package nonisolated var startFailure: Failure? { shared.withLock { $0.startFailure } }
}
