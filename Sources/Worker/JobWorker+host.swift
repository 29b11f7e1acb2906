import JobSchema
import SlotIPC
import Slots

// What the host of a worker lacks to run jobs: a worker that cannot run any claims none, is not ready, and charges no job.
extension JobWorker {
    /// Waits until the host can run jobs, or the worker drains.
    func awaitHost() async {
        while !isDraining {
            let problem = await hostProblem()
            health.foundHost(problem)
            guard problem != nil else { return }
            for job in prefetched.all { job.end(.released) }
            try? await Task.sleep(for: Self.hostPause)
        }
    }

    /// Why no job can run; `nil` if jobs can. Children that could not be started are started again.
    private func hostProblem() async -> String? {
        if let problem = await PairSession.folderProblem(configuration.slot) { return "\(problem)" }
        for session in sessions {
            guard let failure = session.startFailure else { continue }
            // Its job is being released.
            guard free.contains(where: { $0 === session }) else { return failure.message }
            do throws(SlotError) { try await session.start() } catch { return error.failure.message }
        }
        return nil
    }

    /// Measures the spool, and releases all jobs while a file system does not respond, until the task is cancelled: their
    /// processes would wait for it, and their leases would be renewed for ever.
    func watchHost() async {
        let (folder, timeout) = (configuration.slot.policy.spoolFolder, configuration.slot.folderTimeout)
        var hadNoResponse = false
        while !Task.isCancelled {
            async let bytes = spoolSpace.bytes(of: folder, within: timeout)
            if case .noResponse(let folder)? = await PairSession.folderProblem(configuration.slot) {
                hadNoResponse = true
                health.foundHost("\(FolderProblem.noResponse(of: folder))")
                for job in activeJobs { job.end(.released) }
            } else if hadNoResponse {
                hadNoResponse = false
                health.foundHost(nil)
            }
            if let bytes = await bytes { metrics.measured(spool: bytes) }
            try? await Task.sleep(for: Self.hostPause)
        }
    }
}
