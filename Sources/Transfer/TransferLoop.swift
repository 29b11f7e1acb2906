import Glibc
import JobSchema
import Lifecycle
import Requests
import SlotIPC
import Uploads

/// The event loop of the process. It handles orders of the worker, requests over the link, and network events.
final class TransferLoop {
    private let control: PacketSocket
    private let link: PacketSocket
    private let client: HTTPClient
    private var job: TransferSession?
    private var ending: Ending?
    private var recovery: CommitRecovery?
    private var isLinkOpen = true

    /// Maximum number of requests that the transcoder may leave unread when its job ends: a few for each of 32 outputs.
    private static let maxLeft = 128

    /// A finished job whose uploads are still being aborted, or whose files the transcoder has not closed yet.
    private struct Ending {
        let job: TransferSession
        /// The number of remaining requests in the last report to the worker.
        var remaining: Int
        var lastSign = ContinuousClock.now
        /// The deadline for the transcoder, which reports its end before its last threads have closed all files.
        let end = ContinuousClock.now + .seconds(2)
        /// When the state is checked next.
        var next = ContinuousClock.now

        init(_ job: TransferSession) {
            self.job = job
            remaining = job.remaining
        }
    }

    init(control: consuming PacketSocket, link: consuming PacketSocket, policy: TransferPolicy) {
        self.control = control
        self.link = link
        client = HTTPClient(policy: policy)
    }

    /// Runs until the worker closes the control socket.
    func run() throws(PacketError) {
        while true {
            client.wait(for: listensToLink ? [control.number, link.number] : [control.number], atMost: waitTimeout())
            guard try takeOrders() else { return }
            client.perform()
            try job?.tick(reportingTo: control)
            try continueRecovery()
            try endFurther()
            try job?.sumFurther(reportingTo: control)
            try answerPending()
            guard try takeRequest() else { return }
        }
    }

    /// One request is replied to before the next is read.
    private var listensToLink: Bool { isLinkOpen && job?.pending == nil && job?.isPrefetching != true }

    /// Milliseconds until the next deadline.
    private func waitTimeout() -> Int {
        if job?.isSumming == true { return 0 }
        let deadlines = [job?.nextDeadline, recovery?.nextDeadline, ending?.job.nextDeadline, ending?.next]
        guard let deadline = deadlines.compactMap(\.self).min() else { return 60_000 }
        return max(0, Int((deadline - .now).milliseconds) + 1)
    }

    /// Processes all pending orders; returns false when the control socket is closed.
    private func takeOrders() throws(PacketError) -> Bool {
        while try control.waitUntilReadable(milliseconds: 0) {
            guard var received = try control.receive(TransferOrder.self) else { return false }
            try obey(received.message, descriptor: received.descriptor.take())
        }
        return true
    }

    private func obey(_ order: TransferOrder, descriptor: consuming Descriptor?) throws(PacketError) {
        switch order {
        case .hello: throw .malformed("a second hello")
        case .job(let work):
            job =
                work.isSourcePassed
                ? TransferSession(work, passed: descriptor, target: nil, client: client)
                : TransferSession(work, target: descriptor, client: client)
        case .prefetch(let work): job = TransferSession(work, target: nil, client: client, isPrefetching: true)
        case .begin: job?.begin()
        case .publish:
            guard let job else { return try control.send(TransferReport.failed(.noJob)) }
            try job.publish(reportingTo: control)
        case .recoverCommit(let record, let id):
            recovery = CommitRecovery(record, job: id, client: client)
            try continueRecovery()
        case .end:
            try drainLink()
            job?.abort()
            ending = job.map { Ending($0) }
            job = nil
            guard ending == nil else { return try endFurther() }
            try control.send(TransferReport.ended(leftBehind: nil, violation: nil, source: nil))
        }
    }

    private func continueRecovery() throws(PacketError) {
        guard let recovery else { return }
        recovery.tick(.now)
        guard let result = recovery.result else { return }
        self.recovery = nil
        switch result {
        case .success(let recovered): try control.send(TransferReport.commitRecovered(recovered))
        case .failure(let failure): try control.send(TransferReport.failed(failure))
        }
    }

    private func endFurther() throws(PacketError) {
        guard let ending else { return }
        let (job, now) = (ending.job, ContinuousClock.now)
        try job.tick(reportingTo: control)
        if job.remaining == 0, job.isReleased || now >= ending.end {
            self.ending = nil
            return try control.send(
                TransferReport.ended(
                    leftBehind: job.leftBehind, violation: job.takeViolation(), source: job.sourceUse))
        }
        self.ending?.next = job.remaining == 0 ? now + .milliseconds(10) : ending.end
        if job.remaining < ending.remaining, ending.lastSign.duration(to: now) >= .seconds(1) {
            self.ending?.remaining = job.remaining
            self.ending?.lastSign = now
            try control.send(TransferReport.publishing)
        }
    }

    /// Reads one request if there is one; returns false when the control socket is closed.
    private func takeRequest() throws(PacketError) -> Bool {
        guard listensToLink, try link.waitUntilReadable(milliseconds: 0) else { return true }
        // The worker sends the job's order before the first request can arrive, but perhaps after the last check.
        guard try takeOrders() else { return false }
        guard listensToLink, try link.waitUntilReadable(milliseconds: 0) else { return true }
        guard let request = try nextRequest() else { return true }
        guard let job else {
            if request.wantsAnswer { try answer(.refused(.noJob)) }
            return true
        }
        try job.begin(request, reportingTo: control)
        try answerPending()
        return true
    }

    /// The next request; `nil` at the link's end.
    private func nextRequest() throws(PacketError) -> LinkRequest? {
        do throws(PacketError) {
            if let received = try link.receive(LinkRequest.self) { return received.message }
            isLinkOpen = false
        } catch { try reportViolation("sent an invalid request") }
        return nil
    }

    private func answerPending() throws(PacketError) {
        guard let job, let answer = job.takeAnswer() else { return }
        try self.answer(answer.message, descriptor: answer.descriptorNumber)
    }

    /// Refuses the transcoder's pending requests, so that none of them is attributed to the next job.
    private func drainLink() throws(PacketError) {
        if job?.pending != nil { try answer(.refused(.jobOver)) }
        var count = 0
        while isLinkOpen, try link.waitUntilReadable(milliseconds: 0) {
            guard count < Self.maxLeft else {
                return try reportViolation("does not stop sending requests at the end of its job")
            }
            count += 1
            guard let request = try nextRequest() else { return }
            if request.wantsAnswer { try answer(.refused(.jobOver)) }
        }
    }

    /// Replies without blocking: a correct transcoder has read all replies before it sends another request.
    private func answer(_ message: LinkAnswer, descriptor: CInt = -1) throws(PacketError) {
        guard isLinkOpen else { return }
        // This triggers long before the socket is full. The kernel limits the number of unread descriptors in sockets per user,
        // for all slots together.
        guard link.isWritable else { return try reportViolation("does not read what it requested") }
        // The worker detects a broken link itself: the transcoder has ended.
        do { try link.send(message, descriptor: descriptor, waits: false) } catch { isLinkOpen = false }
    }

    /// Closes the link to a transcoder that violated the protocol.
    private func reportViolation(_ what: String) throws(PacketError) {
        isLinkOpen = false
        // Between jobs, no job must fail for the violation. This process ends, so the next job gets a new pair of children.
        guard let job = job ?? ending?.job else { throw .malformed("respool-transcode \(what)") }
        job.reportViolation("respool-transcode \(what)")
    }
}

extension LinkRequest {
    fileprivate var wantsAnswer: Bool {
        switch self {
        case .finished, .discard, .expect: false
        case .open, .openNested, .scratch, .titles, .need, .stage, .seal: true
        }
    }
}

extension Failure {
    static let noJob = Failure(.internal, "respool-transfer has no active job")
    fileprivate static let jobOver = Failure(.cancelled, "the job has finished")
}
