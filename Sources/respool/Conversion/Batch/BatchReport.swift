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
        /// It was found in a folder, and is no audio, or its name does not say so and its output belongs to another source.
        case ignored
        case failed
    }

    init(_ item: BatchItem, _ state: State, outputs: [OutputReport] = [], error: Failure? = nil) {
        self.init(source: SourceAddress.shown(item.source), state, outputs: outputs, error: error)
    }

    init(source: String, _ state: State, outputs: [OutputReport] = [], error: Failure?) {
        self.source = source
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
        self.init(item, item.isUncertain && isOther ? .ignored : .failed, error: failure)
    }

    /// The report of a found file that is not converted, because its output is a source or the output of another source.
    init(_ item: BatchItem, locatedAt owner: String) {
        let message = "its output '\(OutputPath.redacted(item.location))' is \(owner): convert it alone"
        self.init(item, .ignored, error: Failure(.outputExists, message))
    }
}
