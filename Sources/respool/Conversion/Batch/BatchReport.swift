import JobSchema
import MediaTypes

/// The JSON report of one source of a batch, with the names that a job's status has.
struct BatchReport: Encodable, Sendable {
    let source: String
    let state: State
    let outputs: [OutputReport]
    let error: FailureReport.Reason?

    /// How the conversion of a source ended.
    enum State: String, Encodable, CaseIterable, Sendable {
        case completed
        /// The output existed.
        case skipped
        /// It was found in a folder, and is no audio.
        case ignored
        case failed
    }

    init(_ item: BatchItem, _ state: State, outputs: [OutputReport] = [], error: Failure? = nil) {
        source = SourceAddress.shown(item.source)
        self.state = state
        self.outputs = outputs
        self.error = error.map { FailureReport.Reason($0) }
    }

    /// The report of an output that exists.
    init(skipped item: BatchItem) {
        let format = item.spec.plan.renditions[0].format
        let report = OutputReport(format: format, skippedAt: OutputPath.redacted(item.location))
        self.init(item, .skipped, outputs: [report])
    }

    /// The report of a failed conversion. A file that was found in a folder and is no audio is not a failure, unless its name
    /// says that it is audio.
    init(_ item: BatchItem, failure: Failure) {
        let isOther = [.unsupportedFormat, .noAudio].contains(failure.code)
        let isIgnored = item.isFound && isOther && !LocalOutputs.isAudio(item.source)
        self.init(item, isIgnored ? .ignored : .failed, error: failure)
    }
}
