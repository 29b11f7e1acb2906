import Glibc
import Lifecycle
import SlotProtocol
import Storage

/// The one loop of the process: orders of the worker, requests over the link, and what the network brings.
final class TransferLoop {
    private let control: PacketSocket
    private let link: PacketSocket
    private let client: HTTPClient
    private var job: JobInHand?
    /// The job that is over but for what a store must forget of it: how much that was when the worker last heard of it.
    private var ending: (job: JobInHand, remaining: Int, lastSign: ContinuousClock.Instant)?
    private var settling: Settling?
    private var isLinkOpen = true

    init(control: consuming PacketSocket, link: consuming PacketSocket, policy: TransferPolicy) {
        self.control = control
        self.link = link
        client = HTTPClient(policy: policy)
    }

    /// Runs until the worker is gone.
    func run() throws(PacketError) {
        while true {
            client.wait(for: listensToLink ? [control.number, link.number] : [control.number], atMost: patience())
            guard try takeOrders() else { return }
            client.perform()
            try job?.tick(reportingTo: control)
            try settleFurther()
            try endFurther()
            try job?.sumFurther(reportingTo: control)
            try answerPending()
            guard try takeRequest() else { return }
        }
    }

    /// One request is answered before the next is read.
    private var listensToLink: Bool { isLinkOpen && job?.pending == nil }

    /// Milliseconds until something must be done unasked.
    private func patience() -> Int {
        if job?.isSumming == true { return 0 }
        let deadlines = [job?.nextDeadline, settling?.nextDeadline, ending?.job.nextDeadline]
        guard let deadline = deadlines.compactMap(\.self).min() else { return 60_000 }
        return max(0, Int((deadline - .now).milliseconds) + 1)
    }

    /// Obeys every order that is there; answers false at the end.
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
        case .job(let work): job = JobInHand(work, target: descriptor, client: client)
        case .publish:
            guard let job else { return try control.send(TransferReport.failed(.noJob)) }
            try job.publish(reportingTo: control)
        case .settle(let record, let id):
            settling = Settling(record, job: id, client: client)
            try settleFurther()
        case .end:
            try drainLink()
            job?.abandon()
            ending = job.map { ($0, $0.remaining, .now) }
            job = nil
            if ending == nil { try control.send(TransferReport.ended(leftBehind: nil)) } else { try endFurther() }
        }
    }

    private func settleFurther() throws(PacketError) {
        guard let settling else { return }
        settling.tick(.now)
        guard let result = settling.result else { return }
        self.settling = nil
        switch result {
        case .success(let settlement): try control.send(TransferReport.settled(settlement))
        case .failure(let failure): try control.send(TransferReport.failed(failure))
        }
    }

    private func endFurther() throws(PacketError) {
        guard let (job, remaining, lastSign) = ending else { return }
        try job.tick(reportingTo: control)
        if job.remaining == 0 {
            ending = nil
            try control.send(TransferReport.ended(leftBehind: job.leftBehind))
        } else if job.remaining < remaining, lastSign.duration(to: .now) >= .seconds(1) {
            ending = (job, job.remaining, .now)
            try control.send(TransferReport.publishing)
        }
    }

    /// Reads one request if there is one; answers false when the worker is gone.
    private func takeRequest() throws(PacketError) -> Bool {
        guard listensToLink, try link.waitUntilReadable(milliseconds: 0) else { return true }
        // The job was told before its first request was sent, but its order may have come after the last look.
        guard try takeOrders() else { return false }
        guard listensToLink, try link.waitUntilReadable(milliseconds: 0) else { return true }
        guard let received = try link.receive(LinkRequest.self) else {
            isLinkOpen = false
            return true
        }
        guard let job else {
            if received.message.wantsAnswer { answer(.refused(.noJob)) }
            return true
        }
        try job.begin(received.message, reportingTo: control)
        try answerPending()
        return true
    }

    private func answerPending() throws(PacketError) {
        guard let job, let answer = job.takeAnswer() else { return }
        self.answer(answer.message, descriptor: answer.descriptorNumber)
    }

    /// Refuses what the other child still waits for, so that nothing of this job is taken for the next one's.
    private func drainLink() throws(PacketError) {
        if job?.pending != nil { answer(.refused(.jobOver)) }
        while isLinkOpen, try link.waitUntilReadable(milliseconds: 0) {
            guard let received = try link.receive(LinkRequest.self) else {
                isLinkOpen = false
                return
            }
            if received.message.wantsAnswer { answer(.refused(.jobOver)) }
        }
    }

    /// A link that is broken is the worker's to notice: its other child is dead.
    private func answer(_ message: LinkAnswer, descriptor: CInt = -1) {
        do { try link.send(message, descriptor: descriptor) } catch { isLinkOpen = false }
    }
}

extension LinkRequest {
    fileprivate var wantsAnswer: Bool {
        switch self {
        case .finished, .discard, .expect: false
        case .open, .openNested, .scratch, .titles, .need, .stage: true
        }
    }
}

extension Failure {
    static let noJob = Failure(.internal, "respool-transfer has no job in hand")
    fileprivate static let jobOver = Failure(.cancelled, "the job is over")
}
