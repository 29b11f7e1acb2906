import MediaTypes
import Synchronization

/// How far a lane has come, told by its thread to whoever asks.
final class LaneMeter: Sendable {
    private let taken = Atomic<Int64>(0)
    private let isEnding = Atomic(false)

    /// Takes note of samples that the writer has done with.
    func take(_ samples: Int) { taken.add(Int64(samples), ordering: .relaxed) }

    /// Takes note that the output is being ended and checked.
    func beginEnd() { isEnding.store(true, ordering: .relaxed) }

    /// How far an unfinished output is, of a conversion that has read so many samples, and with them that part of all.
    func progress(read samples: Int64, part: Double) -> OutputProgress {
        let share = samples > 0 ? min(Double(taken.load(ordering: .relaxed)) / Double(samples), 1) : 0
        return OutputProgress(
            isEnding.load(ordering: .relaxed) ? .checking : .converting, fraction: part * share)
    }
}
