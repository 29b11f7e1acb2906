import Glibc
import JobSchema
import Lifecycle
import SlotIPC
import Storage

/// The transfers of one job, from its order to its end, with all that must be released then.
final class TransferSession {
    private let job: TransferJob
    private let client: HTTPClient
    private let outputs: JobOutputs
    private var source: OpenSource?
    private var nested: NestedSources?
    /// Whether the worker was told last that the source waits for its turn.
    private var wasWaiting = false
    /// The request over the link that waits for its answer.
    private(set) var pending: LinkRequest?

    init(_ job: TransferJob, target: consuming Descriptor?, client: HTTPClient) {
        self.job = job
        self.client = client
        outputs = JobOutputs(job, target: target, client: client)
    }

    var isSumming: Bool { outputs.isSumming }

    /// When `tick` wants to be called at the latest.
    var nextDeadline: ContinuousClock.Instant? {
        [source?.nextDeadline, nested?.nextDeadline, outputs.nextDeadline].compactMap(\.self).min()
    }

    /// Moves on what depends on time, or on what the network brought.
    func tick(reportingTo control: borrowing PacketSocket) throws(PacketError) {
        source?.tick(.now)
        nested?.tick()
        let isWaiting = source?.isWaiting ?? false
        if isWaiting != wasWaiting {
            try control.send(TransferReport.waiting(isWaiting))
            wasWaiting = isWaiting
        }
        try outputs.tick(.now, reportingTo: control)
    }

    /// Gives up all that is not visible, which may take a moment.
    func abort() { outputs.abort() }

    /// Whether the other child has let go of all that it might write, asked once all is given up.
    var isReleased: Bool { outputs.isReleased }

    /// What the other child did that none does that is in order, at the end.
    func takeViolation() -> Failure? { outputs.takeViolation() }

    /// How many things of it are under way to a store, or must still be taken back.
    var remaining: Int { outputs.remaining }

    /// Why something of it may be left at a store.
    var leftBehind: Failure? { outputs.leftBehind }

    /// Fails the job for what the other child did, which none does that is in order.
    func reportViolation(_ what: String) { outputs.violate(what) }

    // MARK: Requests of the other child

    /// Takes up a request; its answer follows from `takeAnswer`.
    func begin(_ request: LinkRequest, reportingTo control: borrowing PacketSocket) throws(PacketError) {
        switch request {
        case .expect(let reference, let parent, let kind):
            nested?.expect(reference, within: parent, as: kind)
            return
        case .finished(let output, let part):
            return try outputs.finish(output: output, part: part, reportingTo: control)
        case .discard(let output): return outputs.discard(output: output)
        case .need(let offset) where offset >= 0: source?.need(offset)
        case .open, .openNested, .scratch, .titles, .need, .stage: break
        }
        pending = request
    }

    /// The answer to the pending request, once there is one.
    func takeAnswer() -> Answer? {
        guard let pending else { return nil }
        do throws(Failure) {
            guard let answer = try answer(to: pending) else { return nil }
            self.pending = nil
            return answer
        } catch {
            self.pending = nil
            return Answer(message: .refused(error))
        }
    }

    private func answer(to request: LinkRequest) throws(Failure) -> Answer? {
        switch request {
        case .open: try open()
        case .openNested(let reference, let parent, let kind): try openNested(reference, within: parent, as: kind)
        case .titles: Answer(message: .titles(source?.takeTitles() ?? []))
        case .scratch: try outputs.scratch()
        case .need(let offset): try have(offset)
        case .stage(let output, let part): try outputs.stage(output: output, part: part)
        case .finished, .discard, .expect: nil
        }
    }

    private func openNested(
        _ reference: String, within parent: Int, as kind: NestedReference
    ) throws(Failure) -> Answer? {
        guard source != nil else { throw Failure(.internal, "a source names others before it is open") }
        if nested == nil {
            if let failure = source?.failure { throw failure }
            // A stream without an end is no playlist, and what is longer than any need not be there.
            let length = source?.length ?? .max
            let present = source?.run(from: 0) ?? 0
            guard length > client.policy.maxPlaylistBytes || present >= length else {
                source?.need(present)
                return nil
            }
            guard let reader = try source?.reader() else { return nil }
            let names = PlaylistNames(in: reader, length: length, atMost: client.policy.maxPlaylistBytes)
            nested = NestedSources(names, base: source?.base ?? job.source, try access(), client: client)
        }
        guard let opened = try nested!.open(reference, within: parent, as: kind) else { return nil }
        return Answer(message: .openedWhole(number: opened.number), descriptor: opened.reader)
    }

    private func open() throws(Failure) -> Answer? {
        guard outputs.areChecked else { return nil }
        if let failure = outputs.failure { throw failure }
        if source == nil {
            source = try OpenSource.open(SourceLocation(job.source), access(), client: client, cache: client.cache)
        }
        if let failure = source?.failure { throw failure }
        let available = source?.run(from: 0) ?? 0
        if source?.isEndless == true {
            guard let reader = try source?.reader() else { return nil }
            return Answer(message: .openedStream(available: available), descriptor: reader)
        }
        guard let length = source?.length, let reader = try source?.reader() else { return nil }
        return Answer(message: .opened(length: length, available: available), descriptor: reader)
    }

    private func access() throws(Failure) -> WebAccess {
        WebAccess(job.access, to: try SourceLocation(job.source), policy: client.policy)
    }

    private func have(_ offset: Int64) throws(Failure) -> Answer? {
        guard offset >= 0, source != nil else {
            throw Failure(.internal, "bytes at \(offset) are wanted of a source that is not open there")
        }
        let run = source?.run(from: offset) ?? 0
        let isAtEnd = offset >= source?.length ?? .max || source?.isFinished == true
        if run > 0 || isAtEnd { return Answer(message: .have(offset: offset, length: run)) }
        if let failure = source?.failure { throw failure }
        return nil
    }

    // MARK: The finished outputs

    /// Sums some more of what is complete.
    func sumFurther(reportingTo control: borrowing PacketSocket) throws(PacketError) {
        try outputs.sumFurther(reportingTo: control)
    }

    /// Makes the outputs visible, once.
    func publish(reportingTo control: borrowing PacketSocket) throws(PacketError) {
        try outputs.publish(reportingTo: control)
    }
}

/// An answer over the link, and the descriptor that goes with it.
struct Answer: ~Copyable {
    let message: LinkAnswer
    private let descriptor: Descriptor?

    init(message: LinkAnswer, descriptor: consuming Descriptor? = nil) {
        self.message = message
        self.descriptor = descriptor
    }

    /// The descriptor's number, borrowed, or -1.
    var descriptorNumber: CInt {
        switch descriptor {
        case .some(let open): open.number
        case nil: -1
        }
    }
}
