import JobSchema

/// What an earlier owner left of one output at a store: an upload that was begun is aborted, and without one the object is
/// held against the record.
final class RemoteCommitRecovery {
    private enum State {
        case aborting(StoreRequest)
        case checking(StoreRequest)
        case removingParts([StoreRequest])
        case over
    }

    /// Whether the object is what the record says.
    private(set) var isPublished = false
    /// Why that cannot be known now.
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

    /// When `tick` wants to be called at the latest.
    var nextDeadline: ContinuousClock.Instant? { calls.compactMap(\.nextDeadline).min() }

    private var calls: [StoreRequest] {
        switch state {
        case .aborting(let call), .checking(let call): [call]
        case .removingParts(let calls): calls
        case .over: []
        }
    }

    /// Moves on what can move.
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
        // Gone already: it was aborted, or completed.
        case .failure where call.status == 404: check()
        // Who began it may complete it yet, so that the job must not run again before it is gone.
        case .failure(let failure):
            self.failure = Failure(
                failure.code,
                "what an earlier try left at '\(output.destination)' cannot be taken back: \(failure.message)",
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

    /// Removes what is visible of an output that may replace nothing, for the job makes it again.
    func takeBack() {
        guard isPublished, output.overwrite != nil, let object else { return }
        isPublished = false
        removeParts([StoreRequest(StoreMessage(method: "DELETE"), about: .object(object), client: client)])
    }

    /// A location that this worker may not reach is not its to judge either: the job runs again.
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
