import JobSchema
import Lifecycle
import LocalFiles
import Requests
import SlotIPC

/// One request to a store or server of outputs, with its retries and its result.
final class StoreRequest: RemoteRequest.Owner {
    /// A complete, successful response.
    struct Answer: Sendable {
        let head: HTTPHead
        let body: [UInt8]
    }

    /// The result, once the request has ended.
    private(set) var result: Result<Answer, Failure>?
    /// The status of the last response, whether successful or not.
    private(set) var status = 0
    /// Whether any attempt has reached a server.
    var hasBegun: Bool { hadBegun || request?.hasBegun ?? false }
    private var hadBegun = false
    /// Whether a HEAD request found nothing. For missing objects, Amazon returns 403 to keys that may not list the bucket.
    var hasFoundNothing: Bool { [403, 404].contains(status) }
    private let message: StoreMessage
    private let target: () throws(Failure) -> RequestTarget
    private let client: HTTPClient
    private var request: RemoteRequest?
    private var head: HTTPHead?
    private var body: [UInt8] = []
    private var failures = 0
    private var retryAt: ContinuousClock.Instant?
    private let maxAttempts: Int
    /// When the running attempt has taken too long, whatever it has sent or received.
    private var attemptEnd = ContinuousClock.now

    private static let backoff = Backoff(base: .milliseconds(200), cap: .seconds(10))
    private static let maxAnswer = 1 << 20

    /// Sends the message and reports the result later. The target is evaluated for each attempt, because the keys may have been
    /// renewed.
    init(
        _ message: StoreMessage, client: HTTPClient, maxAttempts: Int? = nil,
        to target: @escaping () throws(Failure) -> RequestTarget
    ) {
        self.message = message
        self.client = client
        self.target = target
        self.maxAttempts = maxAttempts ?? client.policy.maxResumes
        send()
    }

    deinit { if let request { client.remove(request) } }

    /// The latest time at which `tick` must be called.
    var nextDeadline: ContinuousClock.Instant? {
        retryAt ?? request.map { min($0.deadline(client.policy) ?? attemptEnd, attemptEnd) }
    }

    /// Ends the request if it has timed out, and sends it again if a retry is due.
    func tick(_ now: ContinuousClock.Instant) {
        if let time = retryAt, time <= now { return send() }
        guard let request else { return }
        if attemptEnd <= now {
            client.remove(request)
            hadBegun = hasBegun
            self.request = nil
            return result = .failure(tooSlow(request.target.name))
        }
        guard let deadline = request.deadline(client.policy), deadline <= now else { return }
        client.remove(request)
        ended(request, .broken(request.lateness(client.policy)))
    }

    private func send() {
        retryAt = nil
        head = nil
        body = []
        do throws(Failure) {
            let request = try RemoteRequest.sending(
                message, to: target(), policy: client.policy, addresses: client.outputAddresses, owner: self)
            self.request = request
            attemptEnd = .now + bound
            client.add(request)
        } catch {
            result = .failure(error.asOutput)
        }
    }

    /// How long one attempt may take.
    private var bound: Duration {
        let policy = client.policy
        return .seconds(
            policy.connectTimeout + (message.firstByteTimeout ?? policy.firstByteTimeout)
                + Double(message.body.length) / Double(policy.minOutputRate))
    }

    private func tooSlow(_ name: String) -> Failure {
        Failure(
            .outputFailed,
            "the request for the output '\(redactedURL(name))' of \(message.body.length) bytes did not end within "
                + "\(bound.rounded) s; see RESPOOL_MIN_OUTPUT_RATE")
    }

    func received(_ head: HTTPHead, by request: RemoteRequest) throws(Failure) -> Bool {
        self.head = head
        return true
    }

    func received(_ bytes: UnsafeRawBufferPointer, by request: RemoteRequest) throws(Failure) -> Bool {
        if case .look = message.work { return false }
        body += bytes
        return body.count <= Self.maxAnswer
    }

    func ended(_ request: RemoteRequest, _ end: RemoteRequest.End) {
        hadBegun = hasBegun
        self.request = nil
        status = request.status
        switch end {
        case .complete:
            guard let head else { return fail(Failure(.outputFailed, "the server of the output sent no response")) }
            if let failure = refusal(head, request.target) { return fail(failure) }
            result = .success(Answer(head: head, body: body))
        case .failed(let failure), .broken(let failure): fail(failure.asOutput)
        }
    }

    /// The failure of a response: its status, or an S3 error in the body of a response with status 2xx.
    private func refusal(_ head: HTTPHead, _ target: RequestTarget) -> Failure? {
        let name = target.name
        if (200..<300).contains(head.status) {
            guard target.isObject else { return nil }
            let answer = S3Answer(body)
            return answer["Error"] == nil ? nil : Failure.s3(head, answer, name).asOutput
        }
        if head.status == 412 {
            return Failure(.outputExists, "the output '\(redactedURL(name))' already exists: status 412")
        }
        return Failure.status(head, name).asOutput
    }

    private func fail(_ failure: Failure) {
        failures += 1
        guard failure.retryable, failures < maxAttempts else {
            result = .failure(failure)
            return
        }
        let delay = Self.backoff.delay(afterFailure: failures)
        retryAt = .now + max(delay, .seconds(min(failure.retryAfter ?? 0, 30)))
    }
}

extension Failure {
    /// Converts the failure of a request for a source to the failure of a request for an output.
    var asOutput: Failure {
        let code: ErrorCode =
            switch self.code {
            case .sourceNotFound, .sourceDenied, .policyDenied: .outputDenied
            case .sourceUnreachable, .sourceTimeout, .sourceTruncated, .sourceChanged: .outputFailed
            default: self.code
            }
        return Failure(code, message, retryable: retryable, retryAfter: retryAfter)
    }
}
