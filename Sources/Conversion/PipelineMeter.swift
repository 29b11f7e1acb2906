import MediaTypes
import Synchronization

/// The progress of a pipeline, written by its thread and read by others.
final class PipelineMeter: Sendable {
    private let taken = Atomic<Int64>(0)
    private let isEnding = Atomic(false)

    /// Records samples that the writer has processed.
    func take(_ samples: Int64) { taken.add(samples, ordering: .relaxed) }

    /// Samples that the writer has processed.
    var samples: Int64 { taken.load(ordering: .relaxed) }

    /// Records that the output is being finished and checked.
    func beginEnd() { isEnding.store(true, ordering: .relaxed) }

    /// The progress of an unfinished output. `possible` is the number of samples available to it so far, `part` the fraction of
    /// the source they make up.
    func progress(of possible: Int64, part: Double) -> OutputProgress {
        let share = possible > 0 ? min(Double(samples) / Double(possible), 1) : 0
        return OutputProgress(
            isEnding.load(ordering: .relaxed) ? .checking : .converting, fraction: part * share)
    }
}
