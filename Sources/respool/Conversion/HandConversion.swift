import Glibc
import Lifecycle
import MediaTypes
import SlotProtocol
import Slots
import Synchronization

/// One conversion in a slot of this process, watched on standard error.
struct HandConversion {
    let request: ConversionRequest

    /// Converts, publishes, and answers what became of it; Ctrl-C leaves nothing behind.
    func run() async throws(CommandFailure) -> OutputReport {
        let slot = Slot(number: 0, configuration: request.configuration, log: Log(least: .error))
        let interruption = await Interruption.stopping(slot)
        let view = ConversionView(request)
        let result = await convert(slot, view)
        await slot.end()
        await slot.shutdown()
        view.end()
        interruption.resolve()
        switch result {
        case .success(let report):
            view.tell(report)
            return report
        case .failure(let error): throw .failed("\(SourceAddress.shown(request.source)): \(error.failure.message)")
        }
    }

    private func convert(_ slot: Slot, _ view: ConversionView) async -> Result<OutputReport, SlotError> {
        let task = SlotTask(
            id: "convert", token: "\(getpid())-\(String(UInt32.random(in: 0...UInt32.max), radix: 16))",
            source: request.spec.source, plan: request.spec.plan,
            outputs: [
                .init(request.destination ?? "-", defaultName: request.spec.defaultName(ofOutput: 0, job: "output"))
            ],
            outputDescriptor: request.destination == nil ? STDOUT_FILENO : nil)
        do throws(SlotError) {
            let record = try await slot.convert(task) { view.show($0) }
            try await slot.publish()
            return .success(record.outputs[0].report)
        } catch {
            return .failure(error)
        }
    }
}

/// The bar of one conversion.
private final class ConversionView: Sendable {
    private let label: String
    private let target: String?
    private let state = Mutex(State())

    private struct State {
        var area = LiveArea(.error)
        var last: ContinuousClock.Instant?
    }

    init(_ request: ConversionRequest) {
        label = ProgressLine.label(source: request.source, target: request.spec.plan.renditions[0].format, .error)
        target = request.destination
    }

    func show(_ progress: Progress) {
        guard Terminal.error.isInteractive else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            if let last = state.last, now - last < .milliseconds(80) { return }
            state.last = now
            let style = ProgressLine.Style(terminal: .error, labels: [label])
            state.area.draw([ProgressLine(label: label, progress: progress).text(style)])
        }
    }

    func end() {
        guard Terminal.error.isInteractive else { return }
        state.withLock { $0.area.clear() }
    }

    /// Says on a terminal what was made.
    func tell(_ report: OutputReport) {
        guard Terminal.error.isInteractive, let target else { return }
        let facts = "\(Quantities.length(report.duration))  \(Quantities.bytes(report.bytes))"
        Terminal.error.write("\(TextLayout.printable(target))  \(Terminal.error.colored(facts, .green))\n")
    }
}
