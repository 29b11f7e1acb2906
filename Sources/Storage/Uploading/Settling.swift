package import SlotProtocol

/// What an earlier owner of a job left, being settled: first at stores, then on this machine.
package final class Settling {
    /// What came of it, once it is over.
    package private(set) var result: Result<Settlement, Failure>?
    private let record: CommitRecord
    private let client: HTTPClient
    private var remote: [RemoteSettling]

    package init(_ record: CommitRecord, client: HTTPClient) {
        self.record = record
        self.client = client
        remote = record.outputs.filter { $0.isStaged && $0.isRemote }.map { RemoteSettling($0, client: client) }
    }

    /// When `tick` wants to be called at the latest.
    package var nextDeadline: ContinuousClock.Instant? { remote.compactMap(\.nextDeadline).min() }

    /// Moves on what can move.
    package func tick(_ now: ContinuousClock.Instant) {
        for output in remote { output.tick(now) }
        guard result == nil, remote.allSatisfy(\.isOver) else { return }
        if let failure = remote.lazy.compactMap(\.failure).first {
            result = .failure(failure)
        } else {
            settleLocal()
        }
    }

    /// Outputs at several places are not settled as one: if any of them is missing, the job runs again and makes all.
    private func settleLocal() {
        var local = record
        local.outputs.removeAll { $0.isRemote || !$0.isStaged }
        var isPublished = remote.allSatisfy(\.isPublished) && !(remote.isEmpty && local.outputs.isEmpty)
        do throws(Failure) {
            if !local.outputs.isEmpty, try local.settle(policy: client.policy) != .published { isPublished = false }
            result = .success(isPublished ? .published : .removed)
        } catch { result = .failure(error) }
    }
}

extension CommitRecord.Output {
    /// Whether it goes to a store.
    var isRemote: Bool { staged.hasPrefix(RemoteOutput.stagedPrefix) }
}
