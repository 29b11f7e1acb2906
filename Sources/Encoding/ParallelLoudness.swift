package import Bytes
import Filters
package import Libav
package import Lifecycle
package import MediaTypes

/// Measures the loudness of a stream in parts, on the threads that encoders have later or had before.
///
/// The samples before a part pass its filters unmeasured, so that each block of 400 ms and each peak counts once, as in one part.
/// Where parts begin depends on the shape of the samples alone. With one thread they are the same, because filters that start
/// at another sample round differently, and the gain of the result would.
package final class ParallelLoudness {
    private let shape: SampleShape
    private let threads: ThreadBudget
    private let shared = Monitor(Shared())
    private var part: LoudnessPart

    private struct Shared {
        /// What was measured of each part, in order.
        var blocks: [LoudnessBlocks?] = []
        /// The number of parts that other threads measure.
        var running = 0
        var failure: MediaError?
        var isAborted = false

        mutating func finish(_ index: Int, _ result: Result<LoudnessBlocks, MediaError>) {
            switch result {
            case .success(let measured): blocks[index] = measured
            case .failure(let error): failure = failure ?? error
            }
        }
    }

    /// Throws if the loudness of planar floats of this shape cannot be measured.
    package init(_ shape: SampleShape, threads: ThreadBudget) throws(MediaError) {
        self.shape = shape
        self.threads = threads
        part = try LoudnessPart(shape, after: nil)
    }

    deinit {
        shared.change { $0.isAborted = true }
        _ = shared.wait { $0.running == 0 ? true : nil }
    }

    /// Takes the next samples, and measures a part once it is complete.
    package func append(_ frame: borrowing Frame) throws(MediaError) {
        var done = 0
        while done < frame.samples {
            done += part.append(frame, from: done)
            guard part.isComplete else { continue }
            let complete = part
            part = try LoudnessPart(shape, after: complete)
            measure(complete)
        }
    }

    /// The loudness of all samples.
    package func finish() throws(MediaError) -> Loudness {
        measure(part)
        let (blocks, failure) = shared.wait { $0.running == 0 ? ($0.blocks, $0.failure) : nil }
        if let failure { throw failure }
        var all = LoudnessBlocks()
        for blocks in blocks { all.append(blocks!) }
        return all.loudness()
    }

    /// Measures a part on another thread if there is one, else on this one.
    private func measure(_ part: LoudnessPart) {
        let index = shared.change { shared in
            shared.blocks.append(nil)
            return shared.blocks.count - 1
        }
        if threads.count > 1, threads.acquire() {
            shared.change { $0.running += 1 }
            let isStarted = tryStartThread { [shared, threads] in
                let result = part.measure { shared.read(\.isAborted) }
                threads.release()
                shared.change { shared in
                    shared.finish(index, result)
                    shared.running -= 1
                }
            }
            guard !isStarted else { return }
            shared.change { $0.running -= 1 }
            threads.release()
        }
        let result = part.measure { false }
        shared.change { $0.finish(index, result) }
    }
}

/// A part of a stream, and some of the samples before it. Only one thread at a time uses it.
private final class LoudnessPart: @unchecked Sendable {
    private let samples: Frame
    private var count = 0
    /// The number of samples that complete the part.
    private let capacity: Int
    private let channels: Int
    private let hop: Int
    private var meter: LoudnessMeter

    /// A part has 10 seconds, or less if all channels have more samples than these.
    private static let maxSamples = 3 << 20

    /// Begins a part of a stream behind another one.
    init(_ shape: SampleShape, after before: LoudnessPart?) throws(MediaError) {
        let lead = before == nil ? 0 : LoudnessMeter.lead(rate: shape.rate)
        meter = try LoudnessMeter.open(shape, lead: lead)
        channels = shape.channels
        hop = LoudnessMeter.hop(rate: shape.rate)
        capacity = hop * (lead + min(max(Self.maxSamples / hop / channels, 10), 100))
        samples = try Frame()
        try samples.reserve(capacity, shape)
        if let before { _ = append(before.samples, from: before.count - lead * hop) }
    }

    var isComplete: Bool { count == capacity }

    /// Takes samples of a frame; returns how many.
    func append(_ frame: borrowing Frame, from start: Int) -> Int {
        let taken = min(frame.samples - start, capacity - count)
        for channel in 0..<channels {
            (samples.floats(channel) + count).update(from: frame.floats(channel) + start, count: taken)
        }
        count += taken
        return taken
    }

    /// Measures the samples, unless that is aborted.
    func measure(isAborted: () -> Bool) -> Result<LoudnessBlocks, MediaError> {
        do throws(MediaError) {
            for start in stride(from: 0, to: count, by: hop) where !isAborted() {
                try meter.append(samples, start..<min(start + hop, count))
            }
            try meter.finish()
            return .success(meter.blocks)
        } catch { return .failure(error) }
    }
}
