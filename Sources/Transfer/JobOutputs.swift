import JobSchema
import Lifecycle
import SlotIPC
import Storage

/// The outputs of the job that is being served: staged file by file, summed one after another, published in their order.
final class JobOutputs {
    /// Why they cannot be written where they are wanted; told before anything is fetched.
    private(set) var failure: Failure?
    /// What is found out of their locations first, until it is known.
    private var overwriteCheck: OverwriteCheck?
    /// Whether the worker waits for what comes of it.
    private var owesCheck: Bool
    /// What earlier attempts of the job have left at stores, until it is gone.
    private var staleUploads: [StaleUploads] = []
    let outputs: [OutputSession]
    private let policy: TransferPolicy
    private let limits: WriteLimits
    /// When what is written is measured next, while something is.
    private var nextMeasurement: ContinuousClock.Instant?
    private let released = ReleasedFiles()
    let isAtomic: Bool
    private let target: Descriptor?
    let targetNumber: CInt
    private var sums: [FileSum] = []
    var publishing: Publishing?
    private var claims: LocationClaims?
    /// What the other child did that none does that is in order, and whether the worker knows of it.
    private var violation: (failure: Failure, isTold: Bool)?

    /// How many files may wait for their sum before another is begun; each keeps its descriptor so long.
    private static let maxWaiting = 8

    init(_ job: TransferJob, target: consuming Descriptor?, client: HTTPClient) {
        let released = released
        outputs = job.outputs.enumerated().map { index, output in
            OutputSession(output, job: job.id, token: job.token, index: index, client: client, released: released)
        }
        limits = WriteLimits(job, client.policy)
        policy = client.policy
        isAtomic = job.isAtomic
        owesCheck = job.outputs.contains { $0.delivery.overwrite == .skip }
        switch target {
        case .some(let open): targetNumber = open.number
        case nil: targetNumber = -1
        }
        self.target = target
        do throws(Failure) {
            claims = try LocationClaims(outputs, client, hasTarget: targetNumber >= 0)
            if let start = job.start {
                for output in outputs {
                    guard case .remote(let location) = try output.location(),
                        let uploads = StaleUploads(at: location, since: start, client: client)
                    else { continue }
                    staleUploads.append(uploads)
                }
            }
            guard outputs.contains(where: { $0.overwrite != .replace }) else { return }
            overwriteCheck = try OverwriteCheck(outputs, client: client)
        } catch { failure = error }
    }

    deinit {
        for output in outputs { output.discard() }
        for output in outputs.reversed() { output.removeMadeFolders() }
    }

    /// Whether it is known which of them can be made.
    var areChecked: Bool { overwriteCheck == nil && staleUploads.allSatisfy(\.isFinished) }

    /// Takes note of places that are taken, once all are looked up.
    private func look(_ now: ContinuousClock.Instant, reportingTo control: borrowing PacketSocket) throws(PacketError) {
        var taken: [Int] = []
        if let overwriteCheck {
            do throws(Failure) {
                try overwriteCheck.tick(now)
                guard overwriteCheck.isKnown else { return }
                if let index = overwriteCheck.taken.sorted().first(where: { outputs[$0].overwrite == .fail }) {
                    let exists = Failure.outputExists(outputs[index].locationName)
                    throw outputs.count > 1 ? exists.of(output: index) : exists
                }
                taken = overwriteCheck.taken.sorted()
            } catch { failure = error }
            self.overwriteCheck = nil
        }
        for index in taken { try skip(index, reportingTo: control) }
        if owesCheck { try control.send(TransferReport.checked) }
        owesCheck = false
    }

    /// Lets go of an output whose location is taken.
    func skip(_ index: Int, reportingTo control: borrowing PacketSocket) throws(PacketError) {
        let name = outputs[index].locationName
        fail(index, .outputExists(name))
        try control.send(TransferReport.outputSkipped(index, location: name))
    }

    /// Whether a file is being summed.
    var isSumming: Bool { sums.first?.isReady == true }

    /// A file to write, once there are not too many that wait.
    func stage(output: Int, part: String?) throws(Failure) -> Answer? {
        if let failure = failure ?? violation?.failure { throw failure }
        guard areChecked, sums.count < Self.maxWaiting else { return nil }
        let hand = try hand(output)
        if let part {
            guard hand.mayHave(part: part) else {
                let shown = String(
                    part.unicodeScalars.prefix(100).map { (0x20..<0x7f).contains($0.value) ? Character($0) : "?" })
                throw violate(
                    "respool-transcode wanted to write '\(shown)' beside output \(output), which its format has not")
            }
            try claims?.begin(part, of: output, hand)
        }
        try checkLimits()
        return try hand.stage(part: part)
    }

    /// An unnamed file to collect bytes in.
    func scratch() throws(Failure) -> Answer {
        if let violation { throw violation.failure }
        try checkLimits()
        let file = try scratchFile(policy: policy)
        do throws(Errno) {
            let writer = try file.writer()
            released.add(file)
            return Answer(message: .scratch, descriptor: writer)
        } catch { throw Failure(.internal, "the spool cannot be opened for writing: \(error)") }
    }

    /// Fails where no more may be written.
    private func checkLimits() throws(Failure) {
        released.release()
        if let excess = limits.excess(outputs, released) { throw violate(excess, .tooLarge) }
        try limits.checkCount(outputs, released)
        nextMeasurement = nextMeasurement ?? .now + WriteLimits.interval
    }

    private func measure(_ now: ContinuousClock.Instant) {
        guard let next = nextMeasurement, now >= next else { return }
        released.release()
        if let excess = limits.excess(outputs, released) {
            violate(excess, .tooLarge)
            // Until the other child is dead it may go on.
            released.empty()
        }
        let isWritten = !released.isEmpty || outputs.contains { $0.writableFiles > 0 }
        nextMeasurement = isWritten ? now + WriteLimits.interval : nil
    }

    /// Whether the other child has let go of all that it might write; asked once the outputs are given up.
    var isReleased: Bool {
        released.release()
        return !released.areOpen
    }

    /// What the other child did that none does that is in order, at the end; all files are let go of.
    func takeViolation() -> Failure? {
        let isOpen = released.releaseAll()
        if let violation { return violation.failure }
        return isOpen ? Failure(.crashed, "respool-transcode keeps a file open that it was to forget") : nil
    }

    /// Gives up the whole job, as the other child cannot be trusted any more.
    @discardableResult
    func violate(_ what: String, _ code: ErrorCode = .crashed) -> Failure {
        let failure = Failure(code, what)
        if violation == nil { violation = (failure, isTold: false) }
        // What is being made visible is complete, and nobody can write to it.
        guard publishing == nil else { return failure }
        self.failure = failure
        for index in outputs.indices { fail(index, failure) }
        return failure
    }

    /// Takes a complete file, to be summed.
    func finish(output: Int, part: String?, reportingTo control: borrowing PacketSocket) throws(PacketError) {
        guard checkUnfinished(output) else { return }
        do throws(Failure) {
            sums.append(try hand(output).finish(part: part))
        } catch { try fail(output, error, reportingTo: control) }
    }

    /// Lets go of a failed output.
    func discard(output: Int) {
        guard checkUnfinished(output) else { return }
        fail(output, Failure(.internal, "output \(output) was given up"))
    }

    /// Whether the other child may say how an output ends: what it has said to be complete is no more in its hand.
    private func checkUnfinished(_ index: Int) -> Bool {
        if outputs.indices.contains(index), !outputs[index].isFinished { return true }
        violate("respool-transcode told the end of output \(index), which it has not in hand")
        return false
    }

    private func fail(_ index: Int, _ failure: Failure) {
        guard outputs.indices.contains(index) else { return }
        sums.removeAll { $0.output == index }
        outputs[index].fail(failure)
    }

    /// Sums some more, so that an order in between is heard, and reports each output whose last file is summed.
    func sumFurther(reportingTo control: borrowing PacketSocket) throws(PacketError) {
        guard let sum = sums.first, sum.isReady else { return }
        do throws(Failure) {
            guard let sha256 = try sum.readFurther() else { return }
            sums.removeFirst()
            let staged = try outputs[sum.output].keep(sum, sha256: sha256)
            if let staged { try? control.send(TransferReport.staged(sum.output, staged)) }
        } catch { try fail(sum.output, error, reportingTo: control) }
        // What goes to a store may wait there already.
        try tick(.now, reportingTo: control)
    }

    // MARK: Outputs that are under way

    /// When `tick` wants to be called at the latest.
    var nextDeadline: ContinuousClock.Instant? {
        if violation?.isTold == false || isStreaming { return .now }
        let sign = publishing.map { $0.lastSign + Self.signInterval }
        return
            (outputs.compactMap(\.nextDeadline)
            + [
                nextMeasurement, isSealing ? .now + .milliseconds(5) : nil, sign,
                overwriteCheck.map(\.nextDeadline) ?? (owesCheck ? .now : nil),
            ].compactMap(\.self)
            + staleUploads.compactMap(\.nextDeadline)).min()
    }

    /// Whether the next file is not to be summed yet, as somebody can still write to it.
    private var isSealing: Bool { sums.first?.isReady == false }

    /// Moves on what is under way to a store.
    func tick(_ now: ContinuousClock.Instant, reportingTo control: borrowing PacketSocket) throws(PacketError) {
        measure(now)
        if let sum = sums.first, !sum.look(now) {
            violate(
                "respool-transcode can still write to a file of output \(sum.output) that it said was complete")
        }
        if let violation, !violation.isTold {
            self.violation?.isTold = true
            try control.send(TransferReport.violation(violation.failure))
        }
        for uploads in staleUploads { uploads.tick(now) }
        try look(now, reportingTo: control)
        for (index, output) in outputs.enumerated() {
            do throws(Failure) {
                if let report = try output.tick(now) { try? control.send(report) }
            } catch { try fail(index, error, reportingTo: control) }
        }
        if publishing != nil { try publishFurther(now, reportingTo: control) }
    }

    /// Gives up all that is not visible.
    func abort() {
        publishing = nil
        overwriteCheck = nil
        for output in outputs { output.discard() }
    }

    /// How many things are under way to stores, or must still be taken back.
    var remaining: Int { outputs.reduce(0) { $0 + $1.remaining } }

    /// Why something may be left at a store.
    var leftBehind: Failure? { (outputs.lazy.compactMap(\.leftBehind) + staleUploads.compactMap(\.leftBehind)).first }

    private func hand(_ index: Int) throws(Failure) -> OutputSession {
        guard outputs.indices.contains(index) else { throw Failure(.internal, "the job has no output \(index)") }
        return outputs[index]
    }

    private func fail(
        _ index: Int, _ failure: Failure, reportingTo control: borrowing PacketSocket
    ) throws(PacketError) {
        fail(index, failure)
        try control.send(TransferReport.outputFailed(index, failure))
    }
}
