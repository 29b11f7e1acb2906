import JobSchema
import Jobs
import MediaTypes
import Slots
import Synchronization

/// A job that this worker holds the lease of, and the slot it runs in.
final class ActiveJob: Sendable {
    let job: ClaimedJob
    let slot: Slot
    private let state = Mutex(State())

    /// Why a job is ended before it came to an end by itself.
    enum Ending: Sendable {
        /// The lease is another's: nothing is said about the job any more.
        case lost
        case cancelled
        case timedOut
        /// The job's deadline is over.
        case expired
        /// The worker stops, and another shall run the job.
        case released
    }

    private enum Stage {
        case running
        /// The queue was asked to let the result appear: there is no way back.
        case publishing
        /// The slot is done with the job; what is left is to tell the queue.
        case over
    }

    private struct State {
        var stage = Stage.running
        var progress: Progress?
        var ending: Ending?
    }

    init(_ job: ClaimedJob, slot: Slot) {
        self.job = job
        self.slot = slot
    }

    /// The job's part of a beat; nothing once the lease is lost.
    var heartbeat: Heartbeat? {
        state.withLock { state in
            state.ending == .lost ? nil : Heartbeat(id: job.id, token: job.token, progress: state.progress)
        }
    }

    var ending: Ending? { state.withLock { $0.ending } }

    /// Keeps how far the job is, for the next beat.
    func report(_ progress: Progress) {
        state.withLock { state in
            if state.stage == .running { state.progress = progress }
        }
    }

    /// Ends the job early unless its result is just becoming visible, which only the loss of the lease interrupts.
    func end(_ ending: Ending) {
        state.withLock { state in
            guard state.stage == .running || (state.stage == .publishing && ending == .lost) else { return }
            if state.ending == nil || ending == .lost { state.ending = ending }
            // Under the lock: a slot that was stopped a moment after it took the next job would stop that one.
            slot.stop()
        }
    }

    /// Ends the job wherever it is, because the process is about to end.
    func interrupt() {
        end(.released)
        if state.withLock({ $0.stage == .publishing }) { end(.lost) }
    }

    /// Passes the point from which the job is neither cancelled nor given back; false if it was ended before.
    func beginPublishing() -> Bool {
        state.withLock { state in
            guard state.ending == nil else { return false }
            state.stage = .publishing
            return true
        }
    }

    /// Lets the beat tell that the result is becoming visible; not before the queue has agreed, which is what counts.
    func showPublishing() {
        state.withLock { state in
            var progress = state.progress ?? Progress(phase: .publishing)
            progress.phase = .publishing
            state.progress = progress
        }
    }

    /// Takes note that the slot is done with the job, and answers why it was ended early, if it was.
    func releaseSlot() -> Ending? {
        state.withLock { state in
            state.stage = .over
            return state.ending
        }
    }
}
