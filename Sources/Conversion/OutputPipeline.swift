import Bytes
import Decoding
import Encoding
import Libav
import Lifecycle
import MediaTypes

/// One output on its way: its writer until it has a result, on the thread of the conversion or on one of its own.
final class OutputPipeline {
    typealias Outcome = Result<ConversionResult, MediaError>

    /// Samples that it copies by itself; nothing for an output that takes decoded ones, or has no writer.
    let copies: Int64?
    private var work: Work
    private let queue = BoundedQueue<SharedFrame>()
    private let shared: Monitor<Shared>
    private let meter = LaneMeter()
    /// The largest fraction told so far.
    private var most = 0.0

    private enum Work {
        case here(any RenditionWriter)
        case elsewhere
        case over
    }

    private struct Shared {
        var outcome: Outcome?
        /// What a person should know of the source, set before the queue ends.
        var warnings: [Warning] = []
        var damage = Damage.none
    }

    /// Starts with a writer, or with the reason why there is none.
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

    /// Whether frames are still wanted.
    var takesSamples: Bool {
        switch work {
        case .here, .elsewhere: copies == nil && outcome == nil
        case .over: false
        }
    }

    /// Samples that are copied so far.
    var copied: Int64 { min(meter.samples, copies ?? 0) }

    var failure: MediaError? {
        if case .failure(let error) = outcome { error } else { nil }
    }

    /// Lets a thread of its own do the work from here on.
    func detach() {
        guard case .here(let writer) = work else { return }
        work = .elsewhere
        let box = Handover(writer: writer)
        startThread { [queue, shared, meter] in
            let outcome = Self.run(box.writer.take()!, queue, shared, meter)
            queue.abort()
            shared.change { $0.outcome = outcome }
        }
    }

    /// A writer on its way to its thread, which is then the only one that touches it.
    private final class Handover: @unchecked Sendable {
        var writer: (any RenditionWriter)?
        init(writer: any RenditionWriter) { self.writer = writer }
    }

    private static func run(
        _ writer: any RenditionWriter, _ queue: BoundedQueue<SharedFrame>, _ shared: Monitor<Shared>,
        _ meter: LaneMeter
    ) -> Outcome {
        do throws(MediaError) {
            // A frame of the lane's own: encoders write the time of theirs into what they are given.
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

    /// Takes a frame, which is shared with the other lanes if it goes to another thread.
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

    /// Ends and checks the output; on a thread of its own that goes on until `wait`.
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

    /// Lets go of everything, as the whole conversion has failed.
    func cancel() {
        queue.abort()
        if case .elsewhere = work { _ = wait() }
        work = .over
    }

    /// What became of the output.
    func wait() -> Outcome { shared.wait { $0.outcome } }

    /// What became of the output, if that is known within the time.
    func wait(atMost time: Duration) -> Outcome? { shared.wait(atMost: time) { $0.outcome } }

    /// How far the output is, of a conversion that has read so many samples, and with them that part of all.
    func progress(read samples: Int64, part: Double) -> OutputProgress {
        var progress = meter.progress(of: copies ?? samples, part: copies == nil ? part : ProgressMeter.most)
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
