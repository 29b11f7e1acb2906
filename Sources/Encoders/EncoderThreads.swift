import Synchronization

/// The threads on which the encoders of one conversion run, and its loudness is measured. Their number may change meanwhile.
///
/// A thread counts only while it encodes: one that waits for samples would otherwise keep others from making progress.
package final class EncoderThreads: Sendable {
    /// Whether the number was requested. Segments then begin at the same places in every run, so that the output has the same
    /// bytes.
    package let isFixed: Bool
    private let limit: Atomic<Int>
    private let busy = Atomic(0)
    /// The streams that are encoded at the same time.
    private let streams = Atomic(0)

    /// At least one thread is used, whatever the count.
    package init(_ count: Int, isFixed: Bool) {
        self.isFixed = isFixed
        limit = Atomic(max(count, 1))
    }

    /// One thread, which is the caller's.
    package static var one: EncoderThreads { EncoderThreads(1, isFixed: true) }

    /// The number of threads that may encode at a time.
    package var count: Int {
        get { limit.load(ordering: .relaxed) }
        set { limit.store(max(newValue, 1), ordering: .relaxed) }
    }

    /// Whether a stream should be encoded in segments. If there are as many streams as threads, that would only cost time.
    var dividesStreams: Bool { isFixed || count > max(streams.load(ordering: .relaxed), 1) }

    /// The threads of one of the streams, if they share them evenly.
    var share: Int { max(count / max(streams.load(ordering: .relaxed), 1), 1) }

    func beginStream() { streams.add(1, ordering: .relaxed) }

    func endStream() { streams.subtract(1, ordering: .relaxed) }

    /// Takes a thread if one is free.
    package func acquire() -> Bool {
        var taken = busy.load(ordering: .relaxed)
        while taken < count {
            let (done, now) = busy.weakCompareExchange(
                expected: taken, desired: taken + 1, ordering: .acquiringAndReleasing)
            if done { return true }
            taken = now
        }
        return false
    }

    /// Whether an encoder uses a thread.
    var isBusy: Bool { busy.load(ordering: .acquiring) > 0 }

    /// Takes a thread even if none is free, for an encoder that must continue.
    func take() { busy.add(1, ordering: .acquiringAndReleasing) }

    /// Gives a thread back.
    package func release() { busy.subtract(1, ordering: .acquiringAndReleasing) }
}
