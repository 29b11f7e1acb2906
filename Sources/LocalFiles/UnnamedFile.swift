import CLinux
import Glibc
package import JobSchema
package import Lifecycle
package import SlotIPC

/// An unnamed file, or one that is unlinked immediately if the file system does not support unnamed files.
package func unnamedFile(in folder: String, for subject: String) throws(Failure) -> Descriptor {
    let unnamed = clinux_open_unnamed(folder, 0o600)
    if unnamed >= 0 { return Descriptor(owning: unnamed) }
    guard [EOPNOTSUPP, EISDIR, EINVAL].contains(errno) else { throw .opening(subject, in: folder, .last) }
    var template = Array("\(folder)/.respool-XXXXXX".utf8CString)
    let named = mkstemp(&template)
    guard named >= 0 else { throw .opening(subject, in: folder, .last) }
    unlink(template)
    return Descriptor(owning: named)
}

/// An unnamed file that another process will write.
package func sealableFile(in folder: String, for subject: String) throws(Failure) -> SealableFile {
    let file = try unnamedFile(in: folder, for: subject)
    do { return try SealableFile(owning: file) } catch { throw .opening(subject, in: folder, error) }
}

/// An unnamed temporary file in the spool folder.
package func scratchFile(policy: TransferPolicy) throws(Failure) -> SealableFile {
    try sealableFile(in: policy.spoolFolder, for: "the spool")
}

/// A copy in the spool folder of a staged file that waits there.
package func spooledCopy(policy: TransferPolicy) throws(Failure) -> FileCopy {
    let file = try sealableFile(in: policy.spoolFolder, for: "the output")
    do { return try FileCopy(file) } catch { throw .opening("the output", in: policy.spoolFolder, error) }
}

extension Failure {
    fileprivate static func opening(_ subject: String, in folder: String, _ error: Errno) -> Failure {
        switch error.rawValue {
        case ENOSPC, EDQUOT: Failure(.outOfSpace, "no space left for \(subject) in '\(folder)': \(error)")
        default:
            Failure(
                .internal, "\(capitalized(subject)) cannot be created in '\(folder)': \(error); set RESPOOL_SPOOL_DIR")
        }
    }
}
