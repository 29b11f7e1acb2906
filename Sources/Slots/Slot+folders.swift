import Synchronization

extension Slot {
    /// Whether the folders of jobs cannot be used, or are no longer those that the children can access.
    package func hasLostFolders() async -> Bool {
        if await LookupFiles.shared.folderProblem(configuration.policy) != nil { return true }
        return await shared.withLock { $0.pair }?.hasLostFolders(configuration) ?? false
    }

    /// Why no slot with the configuration can use the folders of jobs; `nil` if they can be used.
    package static func folderProblem(_ configuration: SlotConfiguration) async -> String? {
        await LookupFiles.shared.folderProblem(configuration.policy)
    }
}
