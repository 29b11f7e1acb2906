import JobSchema

/// The JSON report of a failed conversion or probe. Its `error` has the same form as a job's.
struct FailureReport: Encodable {
    let source: String
    let error: Reason

    /// A failure without the fields that only the queue uses.
    struct Reason: Encodable {
        let code: ErrorCode
        let message: String
        let retryable: Bool
        @Nullable var fields: [WrongField]?

        init(_ failure: Failure) {
            code = failure.code
            message = failure.message
            retryable = failure.retryable
            fields = failure.fields
        }
    }

    init(source: String, _ failure: Failure) {
        self.source = source
        error = Reason(failure)
    }
}
