package import Configuration
import Glibc
import Jobs
import Lifecycle
import SlotIPC
import Slots
import Tracing

extension WorkerConfiguration {
    /// Throws if a folder is missing or inaccessible, because every job that uses it would fail. Without that of previews, only
    /// previews fail. `examining` is called with each folder before.
    package mutating func checkFolders(examining: (String) -> Void) throws(SettingError) {
        if let folder = slot.policy.previewFolder {
            examining(folder)
            // `serve` needs it too, and the first of both creates it.
            try? createSharedFolder(folder)
            if access("\(folder)/.", W_OK | X_OK) != 0 {
                (slot.policy.previewFolder, unusablePreviewFolder) = (nil, folder)
            }
        }
        try slot.policy.checkFolders(examining: examining)
    }

    /// What operators see of the configuration.
    var traits: Set<WorkerRecord.Trait> {
        let threads: WorkerRecord.Trait = ControlGroup.isAvailable ? .limitedThreads : .countedThreads
        return slot.policy.outputRoot == nil ? [threads, .urlOutputs] : [threads]
    }

    /// Warnings about settings with which many jobs will fail.
    package var configurationWarnings: [String] {
        var warnings: [String] = []
        if slot.policy.sourceRoots.isEmpty {
            warnings.append(
                "RESPOOL_SOURCE_ROOTS is not set, so every job whose source is a file will fail as policy_denied: "
                    + "set it, or give --source-root")
        }
        if let folder = unusablePreviewFolder {
            warnings.append(
                "the folder \(folder) cannot be written to, so previews will fail as output_denied: change its rights, or unset \(Settings.uploadFolder.name)"
            )
        }
        if let warning = traces?.warning { warnings.append(warning) }
        if let fault = slot.policy.s3.keysFault { warnings.append("\(fault); until then jobs that need S3 will fail") }
        return warnings
    }
}
