import Glibc
import JobSchema
import Lifecycle
import MediaTypes
import SlotIPC
import Slots
import Synchronization

/// One conversion in a slot of this process, with its progress on standard error.
struct LocalConversion {
    let request: ConversionRequest
    /// Whether failures are also reported as JSON.
    let isJSON: Bool

    /// Converts and publishes. Returns the report of each output, and the failure if one of them failed. After Ctrl-C, no files
    /// remain.
    func run() async throws(CommandFailure) -> ([OutputReport], CommandFailure?) {
        let session = PairSession(number: 0, configuration: request.configuration, log: Log(least: .error))
        let interruption = await Interruption.stopping(session)
        let view = ConversionView(request)
        let result = await convert(session, view)
        await session.end()
        await session.shutdown()
        view.end()
        interruption.resolve()
        switch result {
        case .success(let record):
            let reports = record.outputs.map(\.report)
            for report in reports where report.error == nil { view.show(report) }
            // The error is already in the report of the failed output.
            return (reports, record.failure.map { commandFailure($0, isJSON: false) })
        case .failure(let error): throw commandFailure(error.failure, isJSON: isJSON)
        }
    }

    private func commandFailure(_ failure: Failure, isJSON: Bool) -> CommandFailure {
        // If the reader of the pipe has closed it, the output is incomplete without an error, as is usual in a pipeline.
        if failure.code == .outputFailed, request.destinations.contains(nil), StandardStream.isOutputGone {
            return .failed("")
        }
        return .failed(failure, source: request.source, isJSON: isJSON)
    }

    private func convert(_ session: PairSession, _ view: ConversionView) async -> Result<CommitRecord, SlotError> {
        let run = "\(getpid())-\(String(UInt32.random(in: 0...UInt32.max), radix: 16))"
        let task = SlotTask(
            // A unique id, so that no other run can treat this run's result as its own.
            id: "convert-\(run)", token: "1",
            sourceURL: request.spec.sourceURL, access: request.spec.access, plan: request.spec.plan,
            outputs: request.destinations.enumerated().map { index, destination in
                .init(
                    destination ?? "-", defaultName: request.spec.defaultName(ofOutput: index, job: "output"),
                    delivery: request.spec.deliveries[index])
            },
            outputDescriptor: request.destinations.contains(nil) ? STDOUT_FILENO : nil)
        do throws(SlotError) {
            var record = try await session.convert(task) { view.show($0) }
            if record.outputs.contains(where: \.isStaged) { record.take(try await session.publish()) }
            return .success(record)
        } catch {
            return .failure(error)
        }
    }
}

/// The progress bar of one conversion.
private final class ConversionView: Sendable {
    private let label: String
    private let formats: String
    private let isStream: Bool
    private let state = Mutex(State())

    private struct State {
        var area = LiveArea(.error)
        var last: ContinuousClock.Instant?
    }

    init(_ request: ConversionRequest) {
        formats = request.spec.plan.renditions.map(\.format).joined(separator: "+")
        label = ProgressLine.label(source: request.source, target: formats, .error)
        isStream = request.destinations.contains(nil)
    }

    func show(_ progress: Progress) {
        guard Terminal.error.isInteractive else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            if let last = state.last, now - last < .milliseconds(80) { return }
            state.last = now
            let line = ProgressLine(label: label, progress: progress)
            let style = ProgressLineStyle(terminal: .error, lines: [line])
            state.area.draw([line.text(style)] + line.outputLines(formats, style))
        }
    }

    func end() {
        guard Terminal.error.isInteractive else { return }
        state.withLock { $0.area.clear() }
    }

    /// Prints the result if standard error is a terminal.
    func show(_ report: OutputReport) {
        for warning in report.warnings {
            StandardStream.error("respool: warning: \(TextLayout.printable(warning.message))\n")
        }
        guard report.isMade, Terminal.error.isInteractive, !isStream else { return }
        let facts = "\(Formatting.length(report.duration))  \(Formatting.bytes(report.bytes))"
        Terminal.error.write("\(TextLayout.printable(report.url))  \(Terminal.error.colored(facts, .green))\n")
    }
}
