import MediaTypes
import Synchronization

/// How far a lane has come, told by its thread to whoever asks.
final class LaneMeter: Sendable {
    private let taken = Atomic<Int64>(0)
    private let isEnding = Atomic(false)

    /// Takes note of samples that the writer has done with.
    func take(_ samples: Int64) { taken.add(samples, ordering: .relaxed) }

    /// Samples that the writer has done with.
    var samples: Int64 { taken.load(ordering: .relaxed) }

    /// Takes note that the output is being ended and checked.
    func beginEnd() { isEnding.store(true, ordering: .relaxed) }

    /// How far an unfinished output is, which by now could have so many samples, and with them that part of all.
    func progress(of possible: Int64, part: Double) -> OutputProgress {
        let share = possible > 0 ? min(Double(samples) / Double(possible), 1) : 0
        return OutputProgress(
            isEnding.load(ordering: .relaxed) ? .checking : .converting, fraction: part * share)
    }
}
