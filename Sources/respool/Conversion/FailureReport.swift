import JobSchema

/// Why a source could not be converted or probed, as a program reads it; its `error` is that of a job.
struct FailureReport: Encodable {
    let source: String
    let error: Reason

    /// A failure without what only the queue needs.
    struct Reason: Encodable {
        let code: ErrorCode
        let message: String
        let retryable: Bool
    }

    init(source: String, _ failure: Failure) {
        self.source = source
        error = Reason(code: failure.code, message: failure.message, retryable: failure.retryable)
    }
}
