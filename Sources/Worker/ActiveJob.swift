import JobSchema
import Jobs
import MediaTypes
import Slots
import Synchronization

/// A job whose lease this worker holds, and the slot in which it runs.
final class ActiveJob: Sendable {
    let job: ClaimedJob
    let session: PairSession
    private let state = Mutex(State())

    /// Why a job is ended before it has finished.
    enum Ending: Sendable {
        /// Another worker owns the lease: nothing more is reported about the job.
        case lost
        case cancelled
        case timedOut
        /// The job's deadline has passed.
        case expired
        /// The worker stops, and another one is to run the job.
        case released
    }

    private enum Stage {
        case running
        /// Permission to publish was requested from the queue; the job can no longer be cancelled.
        case publishing
        /// The slot has finished the job; only the report to the queue is left.
        case over
    }

    private struct State {
        var stage = Stage.running
        var progress: Progress?
        var ending: Ending?
        var hasBegun = false
        /// Waits for `begin`.
        var waiter: CheckedContinuation<Bool, Never>?
    }

    init(_ job: ClaimedJob, session: PairSession) {
        self.job = job
        self.session = session
    }

    /// The job's part of a beat; `nil` once the lease is lost.
    var heartbeat: Heartbeat? {
        state.withLock { state in
            state.ending == .lost ? nil : Heartbeat(id: job.id, token: job.token, progress: state.progress)
        }
    }

    var ending: Ending? { state.withLock { $0.ending } }

    /// Whether permission to publish was requested, so that the job can no longer be released.
    var isPublishing: Bool { state.withLock { $0.stage == .publishing } }

    /// Whether the job may be converted, and is not only fetched.
    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// Lets the job be converted.
    func begin() {
        let waiter = state.withLock { state in
            state.hasBegun = true
            return state.waiter.take()
        }
        waiter?.resume(returning: true)
    }

    /// Waits until the job may be converted; returns false if it is ended before.
    func waitToBegin() async -> Bool {
        await withCheckedContinuation { waiter in
            let answer: Bool? = state.withLock { state in
                if state.ending != nil { return false }
                if state.hasBegun { return true }
                state.waiter = waiter
                return nil
            }
            if let answer { waiter.resume(returning: answer) }
        }
    }

    /// Stores the job's progress for the next beat.
    func report(_ progress: Progress) {
        state.withLock { state in
            if state.stage == .running { state.progress = progress }
        }
    }

    /// Ends the job early, except while its result is being published, which only the loss of the lease interrupts.
    func end(_ ending: Ending) {
        let waiter: CheckedContinuation<Bool, Never>? = state.withLock { state in
            guard state.stage == .running || (state.stage == .publishing && ending == .lost) else { return nil }
            if state.ending == nil || ending == .lost { state.ending = ending }
            // A job that only fetches ends without the loss of its children.
            if let waiter = state.waiter.take() { return waiter }
            // Called under the lock; otherwise the session could already run the next job, and would stop that one.
            session.stop()
            return nil
        }
        waiter?.resume(returning: false)
    }

    /// Ends the job in any stage, because the process is about to exit.
    func interrupt() {
        end(.released)
        if state.withLock({ $0.stage == .publishing }) { end(.lost) }
    }

    /// Marks the point after which the job is neither cancelled nor released; returns false if it was ended before.
    func beginPublishing() -> Bool {
        state.withLock { state in
            guard state.ending == nil else { return false }
            state.stage = .publishing
            return true
        }
    }

    /// Makes the next beats report the phase `publishing`; called only after the queue has given permission.
    func showPublishing() {
        state.withLock { state in
            var progress = state.progress ?? Progress(phase: .publishing)
            progress.phase = .publishing
            state.progress = progress
        }
    }

    /// Records that the slot has finished the job; returns why it was ended early, if it was.
    func releaseSlot() -> Ending? {
        state.withLock { state in
            state.stage = .over
            return state.ending
        }
    }
}
