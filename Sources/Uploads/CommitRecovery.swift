package import JobSchema
import LocalFiles
package import Requests
package import SlotIPC

/// Recovers what an earlier owner of a job's lease left: first at stores, then on this machine.
package final class CommitRecovery {
    /// The result, once the recovery has ended.
    package private(set) var result: Result<RecoveredCommit, Failure>?
    private let record: CommitRecord
    private let client: HTTPClient
    private var remote: [RemoteCommitRecovery]
    private var recovered: RecoveredCommit?

    /// Recovers all outputs of the record; `tick` advances the recovery.
    package init(_ record: CommitRecord, job: String, client: HTTPClient) {
        self.record = record
        self.client = client
        remote = record.outputs.filter { $0.isStaged && $0.isRemote }.map {
            RemoteCommitRecovery($0, job: job, client: client)
        }
    }

    /// The latest time at which `tick` must be called.
    package var nextDeadline: ContinuousClock.Instant? { remote.compactMap(\.nextDeadline).min() }

    /// Advances the recovery without waiting.
    package func tick(_ now: ContinuousClock.Instant) {
        for output in remote { output.tick(now) }
        guard result == nil, remote.allSatisfy(\.isFinished) else { return }
        do throws(Failure) {
            if let failure = remote.lazy.compactMap(\.failure).first { throw failure }
            if recovered == nil { recovered = try recoverLocal() }
            if recovered == .removed { for output in remote { output.takeBack() } }
            if remote.allSatisfy(\.isFinished) { result = recovered.map { .success($0) } }
        } catch { result = .failure(error) }
    }

    /// If any output is missing or has failed, the job runs again and produces all outputs.
    private func recoverLocal() throws(Failure) -> RecoveredCommit {
        var local = record
        local.outputs.removeAll { $0.isRemote || !$0.isStaged }
        let othersArePublished =
            remote.allSatisfy(\.isPublished) && record.outputs.allSatisfy { $0.report.error == nil }
            && record.outputs.contains(where: \.isStaged)
        return try local.recover(policy: client.policy, othersArePublished: othersArePublished)
    }
}

extension CommitRecord.Output {
    /// Whether the output is an object of a store.
    var isRemote: Bool { staged.hasPrefix(RemoteOutput.stagedPrefix) }
}
