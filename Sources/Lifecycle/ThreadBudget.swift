import Synchronization

/// The threads on which the encoders of one conversion run, its loudness is measured, and its source is decoded ahead. Their number
/// may change meanwhile.
///
/// A thread counts only while it has work: one that waits for samples would otherwise keep others from making progress. The thread
/// that reads the source does not count.
package final class ThreadBudget: Sendable {
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
    package static var one: ThreadBudget { ThreadBudget(1, isFixed: true) }

    /// The number of threads that may work at a time.
    package var count: Int {
        get { limit.load(ordering: .relaxed) }
        set { limit.store(max(newValue, 1), ordering: .relaxed) }
    }

    /// Whether a stream should be encoded in segments. If there are as many streams as threads, that would only cost time.
    package var dividesStreams: Bool { isFixed || count > max(streams.load(ordering: .relaxed), 1) }

    /// Whether there may be a thread beside the caller's and that of an encoder.
    package var hasSpare: Bool { count > (streams.load(ordering: .relaxed) == 0 ? 1 : 2) }

    /// The threads of one of the streams, if they share them evenly.
    package var share: Int { max(count / max(streams.load(ordering: .relaxed), 1), 1) }

    package func beginStream() { streams.add(1, ordering: .relaxed) }

    package func endStream() { streams.subtract(1, ordering: .relaxed) }

    /// Takes a thread if one is free, and so many others are left.
    package func acquire(leaving others: Int = 0) -> Bool {
        var taken = busy.load(ordering: .relaxed)
        while taken < count - others {
            let (done, now) = busy.weakCompareExchange(
                expected: taken, desired: taken + 1, ordering: .acquiringAndReleasing)
            if done { return true }
            taken = now
        }
        return false
    }

    /// Whether an encoder uses a thread.
    package var isBusy: Bool { busy.load(ordering: .acquiring) > 0 }

    /// Takes a thread even if none is free, for an encoder that must continue.
    package func take() { busy.add(1, ordering: .acquiringAndReleasing) }

    /// Gives a thread back.
    package func release() { busy.subtract(1, ordering: .acquiringAndReleasing) }
}
