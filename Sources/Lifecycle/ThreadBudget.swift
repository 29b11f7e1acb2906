import Synchronization

/// The threads on which the encoders of one conversion run, its loudness is measured, and its source is decoded ahead. Their number
/// may change meanwhile.
///
/// A thread counts only while it has work: one that waits for samples would otherwise keep others from making progress. The thread
/// that reads the source does not count, unless it also encodes.
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

    /// No thread but the one that reads the source.
    package static var one: ThreadBudget { ThreadBudget(1, isFixed: true) }

    /// The number of threads that may work at a time.
    package var count: Int {
        get { limit.load(ordering: .relaxed) }
        set { limit.store(max(newValue, 1), ordering: .relaxed) }
    }

    /// Whether a stream should be encoded in segments. If there are as many streams as threads, that would only cost time.
    package var dividesStreams: Bool { isFixed || count > max(streams.load(ordering: .relaxed), 1) }

    /// Whether a thread may be free beside the one that reads the source and that of an encoder.
    package var hasSpare: Bool { count > (streams.load(ordering: .relaxed) == 0 ? 1 : 2) }

    /// The threads of one of the streams, if they share them evenly.
    package var share: Int { max(count / max(streams.load(ordering: .relaxed), 1), 1) }

    /// Counts a stream that is encoded in segments.
    package func beginStream() { streams.add(1, ordering: .relaxed) }

    /// Ends the count of a stream.
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

    /// The number of threads that have work.
    package var working: Int { busy.load(ordering: .acquiring) }

    /// Whether no thread is free.
    package var isFull: Bool { working >= count }

    /// Takes a thread even if none is free, for an encoder that must continue.
    package func take() { busy.add(1, ordering: .acquiringAndReleasing) }

    /// Gives a thread back.
    package func release() { busy.subtract(1, ordering: .acquiringAndReleasing) }
}
