import Bytes
import Decoding
import Encoders
import Encoding
import Libav
import Lifecycle
import MediaTypes

/// One output in progress: its writer until it has a result, on the conversion's thread or on a separate one.
final class OutputPipeline {
    typealias Outcome = Result<ConversionResult, MediaError>

    /// The number of samples that the output copies as packets; `nil` for an output that takes decoded samples or has no
    /// writer.
    let copies: Int64?
    private var work: Work
    private let queue = BoundedQueue<SharedFrame>()
    private let shared: Monitor<Shared>
    private let meter = PipelineMeter()
    /// The largest fraction reported so far.
    private var most = 0.0

    private enum Work {
        case here(any RenditionWriter)
        case elsewhere
        case over
    }

    private struct Shared {
        var outcome: Outcome?
        /// Warnings about the source, set before the queue ends.
        var warnings: [Warning] = []
        var damage = Damage.none
    }

    /// Starts with a writer, or with the error that prevented one.
    init(_ writer: Result<any RenditionWriter, MediaError>) {
        switch writer {
        case .success(let writer):
            work = .here(writer)
            copies = writer.copies
            shared = Monitor(Shared())
        case .failure(let error):
            work = .over
            copies = nil
            shared = Monitor(Shared(outcome: .failure(error)))
        }
    }

    /// Whether the output still takes frames.
    var takesSamples: Bool {
        switch work {
        case .here, .elsewhere: copies == nil && outcome == nil
        case .over: false
        }
    }

    /// Samples copied so far.
    var copied: Int64 { min(meter.samples, copies ?? 0) }

    var failure: MediaError? {
        if case .failure(let error) = outcome { error } else { nil }
    }

    /// Moves the work to a separate thread; throws if the system has none.
    func detach() throws(MediaError) {
        guard case .here(let writer) = work else { return }
        let box = Handover(writer: writer)
        let isStarted = startThreadWithinSecond { [queue, shared, meter] in
            let outcome = Self.run(box.writer.take()!, queue, shared, meter)
            queue.abort()
            shared.change { $0.outcome = outcome }
        }
        guard isStarted else { throw .noThread("encode the audio") }
        work = .elsewhere
    }

    /// Transfers a writer to its thread, which is then the only one that uses it.
    private final class Handover: @unchecked Sendable {
        var writer: (any RenditionWriter)?
        init(writer: any RenditionWriter) { self.writer = writer }
    }

    private static func run(
        _ writer: any RenditionWriter, _ queue: BoundedQueue<SharedFrame>, _ shared: Monitor<Shared>,
        _ meter: PipelineMeter
    ) -> Outcome {
        do throws(MediaError) {
            // A separate frame, because encoders write their timestamps into the frames they receive.
            let frame = try Frame()
            while true {
                switch queue.take() {
                case .elements(let frames):
                    for shared in frames {
                        try frame.share(shared.frame)
                        let samples = frame.samples
                        try writer.append(frame)
                        meter.take(Int64(samples))
                    }
                case .end:
                    try writer.copy { meter.take($0) }
                    meter.beginEnd()
                    return .success(try finished(writer, shared.read(\.damage), shared.read(\.warnings)))
                case .broken: return .failure(.stopped)
                }
            }
        } catch { return .failure(error) }
    }

    /// Appends a frame. If the work is on another thread, the frame is shared with the other pipelines.
    func append(_ frame: borrowing Frame, shared: SharedFrame?) {
        switch work {
        case .here(let writer):
            let samples = frame.samples
            do throws(MediaError) {
                try writer.append(frame)
                meter.take(Int64(samples))
            } catch { end(.failure(error)) }
        case .elsewhere: if let shared, copies == nil { _ = queue.append(shared, bytes: shared.bytes) }
        case .over: break
        }
    }

    /// Finishes and checks the output. On a separate thread this continues until `wait` returns.
    func finish(_ damage: Damage, warnings: [Warning]) {
        switch work {
        case .here(let writer):
            meter.beginEnd()
            do throws(MediaError) { end(.success(try Self.finished(writer, damage, warnings))) } catch {
                end(.failure(error))
            }
        case .elsewhere:
            shared.change { ($0.damage, $0.warnings) = (damage, warnings) }
            queue.complete()
        case .over: break
        }
    }

    /// Releases everything after the whole conversion has failed.
    func cancel() {
        queue.abort()
        if case .elsewhere = work { _ = wait() }
        work = .over
    }

    /// Waits for the result.
    func wait() -> Outcome { shared.wait { $0.outcome } }

    /// Waits for the result up to a time limit; `nil` if it is not known by then.
    func wait(atMost time: Duration) -> Outcome? { shared.wait(atMost: time) { $0.outcome } }

    /// The output's progress. `samples` is the number of samples that the conversion has read, `part` the fraction of the
    /// source they make up.
    func progress(read samples: Int64, part: Double) -> OutputProgress {
        var progress = meter.progress(of: copies ?? samples, part: copies == nil ? part : ProgressMeter.maxFraction)
        switch (outcome, work) {
        case (.success, _): progress = OutputProgress(.complete, fraction: 1)
        case (.failure, _): progress.phase = .failed
        case (nil, _): if copies != nil, copied == 0 { progress.phase = .waiting }
        }
        most = max(most, progress.fraction)
        progress.fraction = most
        return progress
    }

    private var outcome: Outcome? { shared.read(\.outcome) }

    private func end(_ outcome: Outcome) {
        shared.change { $0.outcome = outcome }
        work = .over
    }

    private static func finished(
        _ writer: any RenditionWriter, _ damage: Damage, _ warnings: [Warning]
    ) throws(MediaError) -> ConversionResult {
        var result = try writer.finish()
        result.damage.seconds += damage.seconds
        result.damage.events += damage.events
        result.warnings = warnings + result.warnings
        return result
    }
}
