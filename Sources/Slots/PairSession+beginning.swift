import JobSchema
import SlotIPC
import Synchronization

// How a job begins.
extension PairSession {
    /// Starts a job before its conversion: its source is fetched as far as there is space for it. `convert` with the same task
    /// follows, or `end`.
    package func prefetch(_ task: SlotTask) async throws(SlotError) {
        let pair = try await livePair(for: task.tenant)
        let job = task.transferJob
        begin(pair, job, with: .prefetch(job))
        prefetching = pair
    }

    /// Begins the conversion; returns the pair that makes it.
    func begin(_ task: SlotTask) async throws(SlotError) -> ChildPair {
        if let pair = prefetching {
            prefetching = nil
            guard !shared.withLock({ $0.isStopped }) else { throw .stopped }
            pair.events.discard(from: pair.transcode.name)
            pair.transfer.send(TransferOrder.begin)
            return pair
        }
        let pair = try await livePair(for: task.tenant)
        let job = task.transferJob
        begin(pair, job, with: .job(job), descriptor: task.sourceDescriptor ?? task.outputDescriptor)
        return pair
    }

    /// Sends the job's first order to `respool-transfer`.
    func begin(_ pair: ChildPair, _ job: TransferJob, with order: TransferOrder, descriptor: CInt? = nil) {
        lines = LogTail()
        uploads = [:]
        self.job = job.id
        pair.job.id = job.id
        // Unsolicited messages of the transcoder do not belong to this job.
        pair.events.discard(from: pair.transcode.name)
        isTransferBusy = true
        isStreaming = descriptor != nil && !job.isSourcePassed
        let hasUploads = job.outputs.contains { output in
            output.location.map { OutputPath.isObject($0) || OutputPath.isOnFileServer($0) } == true
        }
        shared.withLock { $0.hasUploads = hasUploads }
        pair.transfer.send(order, descriptor: descriptor)
    }
}
