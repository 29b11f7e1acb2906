import JobSchema
import LocalFiles
import Requests

// Outputs on FTP and SFTP servers, and what takes back a publication.
extension Upload {
    /// Finds out whether a file server has a file that must be kept; returns whether that is known.
    func prepare() -> Bool {
        guard names != nil, hadFile == nil, failure == nil else { return true }
        if isReady { state = .preparing(call(StoreMessage(work: .look), query: "")) }
        return false
    }

    func prepared(_ call: StoreRequest) {
        switch call.result {
        case .success: hadFile = true
        // There is none, or none that can be read.
        case .failure(let failure) where !failure.retryable: hadFile = false
        case .failure(let failure): return fail(failure)
        case nil: return
        }
        state = .ready
    }

    /// Removes what `complete` made visible, and restores what a file server had before; returns the request for it. `nil` if
    /// that is not possible.
    func takeBack() -> StoreRequest? {
        guard case .complete = state else { return nil }
        state = .over
        if isObject { return call(StoreMessage(method: "DELETE"), query: "") }
        guard let names else { return hadFile == false ? call(StoreMessage(method: "DELETE"), query: "") : nil }
        switch hadFile {
        case true?: return change(names.replacement(by: names.kept, overSFTP: isOverSFTP))
        case false?: return change([FileCommand(action: .remove, name: names.own)])
        case nil: return nil
        }
    }

    /// Removes the file that a file server had before; returns the request for it, if there is one.
    func removeOld() -> StoreRequest? {
        guard case .complete = state, hadFile == true, let names else { return nil }
        return change([FileCommand(action: .remove, name: names.kept)])
    }

    func store(_ commands: [FileCommand], maxAttempts: Int? = nil) -> StoreRequest {
        let staged = names?.staged ?? ""
        // The size shows whether the upload is truncated.
        let measure = FileCommand(action: .measure, name: staged, mayFail: true)
        return call(
            StoreMessage(body: .file(file), work: .change(upload: staged, [measure] + commands)), query: "",
            maxAttempts: maxAttempts)
    }

    private func change(_ commands: [FileCommand], maxAttempts: Int? = nil) -> StoreRequest {
        call(StoreMessage(work: .change(upload: nil, commands)), query: "", maxAttempts: maxAttempts)
    }

    func rename(_ names: FileServerNames) {
        let replacement = names.replacement(by: names.staged, overSFTP: isOverSFTP)
        let keeping = hadFile == true ? [FileCommand(action: .rename(to: names.kept), name: names.own)] : []
        // A repeated request does not find what a former one has renamed.
        state = .completing(change(keeping + replacement, maxAttempts: 1))
    }

    var isOverSFTP: Bool { FileScheme(of: location.text) == .sftp }

    /// Removes the staged file. What it was to replace comes back, if its own name may have been taken from it.
    func abortion(_ names: FileServerNames) -> StoreRequest {
        var commands = [FileCommand(action: .remove, name: names.staged, mayFail: true)]
        if hadFile == true, case .completing = state {
            commands.append(FileCommand(action: .rename(to: names.own), name: names.kept, mayFail: true))
        }
        return change(commands)
    }
}

/// The names of an output on an FTP or SFTP server. Those beside its own are unique to the upload, because a worker whose lease
/// has expired may still be sending.
struct FileServerNames {
    let own: String
    private let suffix = String(UInt64.random(in: 0 ... .max), radix: 16)
    /// The name of the file until it is published.
    var staged: String { Destination.stagedPrefix + suffix }
    /// The name of the file that it has replaced, until nothing can revert that.
    var kept: String { Destination.keptPrefix + suffix }

    /// Gives the file its own name, and replaces an old one.
    func replacement(by name: String, overSFTP: Bool) -> [FileCommand] {
        let rename = FileCommand(action: .rename(to: own), name: name)
        // Many servers of SFTP refuse to rename a file over an existing one (draft-ietf-secsh-filexfer-02, section 6.5).
        return overSFTP ? [FileCommand(action: .remove, name: own, mayFail: true), rename] : [rename]
    }
}
