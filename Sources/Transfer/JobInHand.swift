import Glibc
import Lifecycle
import SlotProtocol
import Storage

/// The job that is being served, with all that must be released when it ends.
final class JobInHand {
    private let job: TransferJob
    private let client: HTTPClient
    private let target: Descriptor?
    private let targetNumber: CInt
    /// Why the output cannot be written where it is wanted; told before anything is fetched.
    private let outputFailure: Failure?
    private var source: OpenSource?
    private var nested: NestedSources?
    /// The request over the link that waits for its answer.
    private(set) var pending: LinkRequest?
    private var staging: Staging?
    private var digest: Digest?
    private var stagedBytes: Int64 = 0
    private var isStaged = false
    private var isPublished = false

    init(_ job: TransferJob, target: consuming Descriptor?, client: HTTPClient) {
        self.job = job
        self.client = client
        outputFailure = Self.check(job, hasTarget: target != nil, policy: client.policy)
        switch target {
        case .some(let open): targetNumber = open.number
        case nil: targetNumber = -1
        }
        self.target = target
    }

    var isSumming: Bool { digest != nil }

    /// When `tick` wants to be called at the latest.
    var nextDeadline: ContinuousClock.Instant? {
        [source?.nextDeadline, nested?.nextDeadline].compactMap(\.self).min()
    }

    /// Moves on what depends on time.
    func tick() {
        source?.tick(.now)
        nested?.tick()
    }

    private static func check(_ job: TransferJob, hasTarget: Bool, policy: TransferPolicy) -> Failure? {
        // A probe has no output, and never stages one.
        guard let output = job.output else { return nil }
        if output == "-" {
            return hasTarget
                ? nil : Failure(.outputDenied, "the output '-' needs an open pipe, which a queued job has not")
        }
        do throws(Failure) {
            try Destination(output, defaultName: job.defaultName, policy: policy).check()
            return nil
        } catch { return error }
    }

    // MARK: Requests of the other child

    /// Takes up a request; its answer follows from `takeAnswer`.
    func begin(_ request: LinkRequest, reportingTo control: borrowing PacketSocket) throws(PacketError) {
        if case .staged = request { return try beginSumming(reportingTo: control) }
        if case .expect(let reference, let parent, let kind) = request {
            nested?.expect(reference, within: parent, as: kind)
            return
        }
        pending = request
        if case .need(let offset, _) = request, offset >= 0 { source?.need(offset) }
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
        case .scratch: Answer(message: .scratch, descriptor: try scratchFile(policy: client.policy))
        case .need(let offset, _): try have(offset)
        case .stage: try stage()
        case .staged, .expect: nil
        }
    }

    private func openNested(
        _ reference: String, within parent: Int, as kind: NestedReference
    ) throws(Failure) -> Answer? {
        guard source != nil else { throw Failure(.internal, "a source names others before it is open") }
        if nested == nil { nested = NestedSources(base: source?.base ?? job.source, client: client) }
        guard let opened = try nested!.open(reference, within: parent, as: kind) else { return nil }
        return Answer(message: .openedWhole(number: opened.number), descriptor: opened.reader)
    }

    private func open() throws(Failure) -> Answer? {
        if let outputFailure { throw outputFailure }
        if source == nil { source = try OpenSource.open(SourceLocation(job.source), client: client) }
        if let failure = source?.failure { throw failure }
        guard let length = source?.length, let reader = try source?.reader() else { return nil }
        return Answer(message: .opened(length: length, available: source?.run(from: 0) ?? 0), descriptor: reader)
    }

    private func have(_ offset: Int64) throws(Failure) -> Answer? {
        guard offset >= 0, source != nil else {
            throw Failure(.internal, "bytes at \(offset) are wanted of a source that is not open there")
        }
        let run = source?.run(from: offset) ?? 0
        if run > 0 || offset >= source?.length ?? .max { return Answer(message: .have(offset: offset, length: run)) }
        if let failure = source?.failure { throw failure }
        return nil
    }

    private func stage() throws(Failure) -> Answer {
        if let outputFailure { throw outputFailure }
        staging = nil
        isStaged = false
        let staging: Staging
        if job.output == "-" {
            staging = Staging(try StreamedFile.create(policy: client.policy))
        } else {
            let destination = try Destination(job.output, defaultName: job.defaultName, policy: client.policy)
            staging = Staging(try StagedFile.create(for: destination, job: job.id, token: job.token))
        }
        let descriptor = try staging.duplicate()
        self.staging = consume staging
        return Answer(message: .stage, descriptor: descriptor)
    }

    // MARK: The finished output

    private func beginSumming(reportingTo control: borrowing PacketSocket) throws(PacketError) {
        guard staging != nil, !isPublished else { return }
        do throws(Failure) {
            stagedBytes = try staging!.checkAndSynchronize(atMost: client.policy.mostOutputBytes)
            digest = Digest.create()
        } catch { try control.send(TransferReport.failed(error)) }
    }

    /// Sums some more of the output, so that an order in between is heard, and reports it when all is summed.
    func sumFurther(reportingTo control: borrowing PacketSocket) throws(PacketError) {
        guard digest != nil, let file = staging?.number else { return }
        do throws(Errno) {
            guard try !digest!.read(file) else { return }
        } catch {
            digest = nil
            return try control.send(
                TransferReport.failed(Failure(.outputFailed, "the staged output cannot be read: \(error)")))
        }
        let digest = self.digest.take()!
        let report: TransferReport
        do throws(Failure) {
            guard digest.position == stagedBytes else {
                throw Failure(.outputFailed, "the staged output changed while it was summed")
            }
            report = .staged([try staging!.output(bytes: stagedBytes, sha256: digest.finish())])
            isStaged = true
        } catch { report = .failed(error) }
        try control.send(report)
    }

    /// Makes the output visible, once.
    func publish(reportingTo control: borrowing PacketSocket) throws(PacketError) {
        guard isStaged, staging != nil else {
            return try control.send(TransferReport.failed(Failure(.internal, "no complete output is staged")))
        }
        do throws(Failure) {
            if !isPublished {
                guard try staging!.publish(to: targetNumber, unlessReadable: control.number) else { return }
                isPublished = true
            }
        } catch { return try control.send(TransferReport.failed(error)) }
        try control.send(TransferReport.published)
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
