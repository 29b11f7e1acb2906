import JobSchema
import Jobs
import Lifecycle
import SlotIPC
import Slots

// Jobs that are claimed ahead, so that their sources are fetched while others are converted.
extension JobWorker {
    /// Whether a job that was claimed ahead may be converted now.
    var mayBegin: Bool { converting.count < configuration.slots && !prefetched.all.isEmpty }

    /// Converts a job that was claimed, or only fetches its source while others are converted.
    func take(_ job: ActiveJob, of queue: Int) {
        guard prefetched.all.isEmpty, converting.count < configuration.slots else {
            return prefetched.insert(job, of: queue)
        }
        begin(job)
    }

    /// Converts as many of the jobs that were claimed ahead as may run. Called after a claim: if it got a job of a higher
    /// priority, that one is converted first.
    func beginPrefetched() {
        while mayBegin, let job = prefetched.popFirst() { begin(job) }
        reportJobs()
    }

    /// Releases a job that was claimed ahead if a queue has a ready one of a higher priority, for which there is no room.
    func makeRoom(for priority: JobSpec.Priority, of queue: Int) {
        guard room == 0, !isShortOfSpace, let job = prefetched.last(after: priority, of: queue) else { return }
        job.end(.released)
    }

    /// Measures whether jobs may be claimed ahead.
    func measureSpace() async {
        guard configuration.prefetch > 0 else { return }
        isShortOfSpace = await !spoolSpace.suffices(
            configuration.slot.policy, within: configuration.slot.folderTimeout)
        if isShortOfSpace, !hasWarnedOfSpace {
            log.warning(
                "no sources are fetched ahead: the spool or the source cache has less free space than RESPOOL_PREFETCH_RESERVE",
                ["reserve": configuration.slot.policy.prefetchReserve])
        }
        hasWarnedOfSpace = isShortOfSpace
    }

    func reportJobs() {
        let running = activeJobs.count - prefetched.all.count
        health.runs(running)
        metrics.running(running, prefetched: prefetched.all.count)
    }

    private func begin(_ job: ActiveJob) {
        converting.insert(ObjectIdentifier(job))
        job.begin()
    }
}
