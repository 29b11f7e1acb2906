import JobSchema
import LocalFiles
import Requests

/// Recovers one output that an earlier owner of the lease left at a store. A started upload is aborted. Otherwise the object is
/// compared with the commit record.
final class RemoteCommitRecovery {
    private enum State {
        case aborting(StoreRequest)
        case checking(StoreRequest)
        case removingParts([StoreRequest])
        case over
    }

    /// Whether the object matches the record.
    private(set) var isPublished = false
    /// Why this cannot be determined now.
    private(set) var failure: Failure?
    private let output: CommitRecord.Output
    private let mark: ObjectMark
    private let client: HTTPClient
    private var object: S3Object?
    private var state = State.over
    private var parts: ArraySlice<String>

    init(_ output: CommitRecord.Output, job: String, client: HTTPClient) {
        self.output = output
        mark = ObjectMark(job: job, bytes: output.report.bytes, sha256: output.report.sha256)
        self.client = client
        parts = Array(output.parts.lazy.flatMap { $0.names(atMost: 100_000) }.prefix(100_000))[...]
        object = try? S3Object(output.destination, noun: "output")
        guard let object else { return }
        let identifier = output.staged.dropFirst(RemoteOutput.stagedPrefix.count)
        guard !identifier.isEmpty else {
            check()
            return
        }
        let query = "uploadId=\(S3Object.encodedValue(String(identifier)))"
        state = .aborting(
            StoreRequest(StoreMessage(method: "DELETE"), about: .object(object), query: query, client: client))
    }

    var isFinished: Bool {
        if case .over = state { true } else { false }
    }

    /// The latest time at which `tick` must be called.
    var nextDeadline: ContinuousClock.Instant? { calls.compactMap(\.nextDeadline).min() }

    private var calls: [StoreRequest] {
        switch state {
        case .aborting(let call), .checking(let call): [call]
        case .removingParts(let calls): calls
        case .over: []
        }
    }

    /// Advances the recovery without waiting.
    func tick(_ now: ContinuousClock.Instant) {
        for call in calls { call.tick(now) }
        switch state {
        case .aborting(let call): aborted(call)
        case .checking(let call): checked(call)
        case .removingParts(let calls): removeParts(calls.filter { $0.result == nil })
        case .over: break
        }
    }

    private func aborted(_ call: StoreRequest) {
        switch call.result {
        case .success: removeParts([])
        // The upload no longer exists: it was aborted or completed.
        case .failure where call.status == 404: check()
        // The process that started the upload may still complete it, so the job must not run again before the upload is
        // aborted.
        case .failure(let failure):
            self.failure = Failure(
                failure.code,
                "what an earlier attempt left at '\(output.destination)' cannot be removed: \(failure.message)",
                retryable: true, retryAfter: failure.retryAfter)
            state = .over
        case nil: break
        }
    }

    private func check() {
        guard let object else { return }
        state = .checking(StoreRequest(StoreMessage(method: "HEAD"), about: .object(object), client: client))
    }

    private func checked(_ call: StoreRequest) {
        switch call.result {
        case .success(let answer):
            isPublished = mark.isOn(answer.head)
            if isPublished { state = .over } else { removeParts([]) }
        case .failure where call.hasFoundNothing: removeParts([])
        case .failure(let failure): fail(failure)
        case nil: break
        }
    }

    /// Removes a published output that may not overwrite anything, because the job produces it again.
    func takeBack() {
        guard isPublished, output.overwrite != nil, let object else { return }
        isPublished = false
        removeParts([StoreRequest(StoreMessage(method: "DELETE"), about: .object(object), client: client)])
    }

    /// If this worker may not access the location, it cannot check it either, so the job runs again.
    private func fail(_ failure: Failure) {
        if failure.retryable { self.failure = failure }
        state = .over
    }

    private func removeParts(_ running: [StoreRequest]) {
        var running = running
        while running.count < RemoteOutput.removalWidth, let name = parts.popFirst() {
            guard let part = try? object?.sibling(name) else { continue }
            running.append(StoreRequest(StoreMessage(method: "DELETE"), about: .object(part), client: client))
        }
        state = running.isEmpty ? .over : .removingParts(running)
    }
}
