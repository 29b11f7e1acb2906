import JobSchema

// Outputs on FTP and SFTP servers.
extension Upload {
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
        // A repeated request does not find what a former one has renamed.
        state = .completing(change(replacement, maxAttempts: 1))
    }

    var isOverSFTP: Bool { FileScheme(of: location.text) == .sftp }

    /// Removes the staged file.
    func abortion(_ names: FileServerNames) -> StoreRequest {
        change([FileCommand(action: .remove, name: names.staged, mayFail: true)])
    }
}
