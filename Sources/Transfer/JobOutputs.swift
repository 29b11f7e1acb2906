import JobSchema
import Lifecycle
import LocalFiles
import Requests
import SlotIPC
import Uploads

/// The outputs of the active job: staged file by file, hashed one after another, and published in order.
final class JobOutputs {
    /// Why the outputs cannot be written to their locations. Reported before anything is fetched.
    private(set) var failure: Failure?
    /// Checks for existing files at the locations; `nil` once the result is known.
    private var overwriteCheck: OverwriteCheck?
    /// Whether the worker waits for the result of the check.
    private var owesCheck: Bool
    /// Uploads of earlier attempts of the job, which are being aborted.
    private var staleUploads: [StaleUploads] = []
    let outputs: [OutputSession]
    private let policy: TransferPolicy
    private let limits: WriteLimits
    /// When the written bytes are measured next; `nil` while no file is being written.
    private var nextMeasurement: ContinuousClock.Instant?
    private let unsealed = UnsealedFiles()
    let isAtomic: Bool
    private let target: Descriptor?
    let targetNumber: CInt
    private var sums: [FileSum] = []
    var publishing: Publishing?
    private var claims: LocationClaims?
    /// A protocol violation of the transcoder, and whether it has been reported to the worker.
    private var violation: (failure: Failure, isReported: Bool)?

    /// Maximum number of files that wait for their hash before another may be staged. Each keeps its descriptor open.
    private static let maxWaiting = 8

    init(_ job: TransferJob, target: consuming Descriptor?, client: HTTPClient) {
        let unsealed = unsealed
        outputs = job.outputs.enumerated().map { index, output in
            OutputSession(output, job: job.id, token: job.token, index: index, client: client, unsealed: unsealed)
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

    /// Whether the checks of the locations have ended.
    var areChecked: Bool { overwriteCheck == nil && staleUploads.allSatisfy(\.isFinished) }

    /// Whether no output is to be made any more.
    var haveAllFailed: Bool { !outputs.isEmpty && outputs.allSatisfy(\.hasFailed) }

    /// Handles the result of the overwrite check once it is known.
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

    /// Discards an output whose location is occupied.
    func skip(_ index: Int, reportingTo control: borrowing PacketSocket) throws(PacketError) {
        let name = outputs[index].locationName
        fail(index, .outputExists(name))
        try control.send(TransferReport.outputSkipped(index, location: name))
    }

    /// Whether a file is being hashed.
    var isSumming: Bool { sums.first?.isReady == true }

    /// A staged file to write; `nil` while too many files wait for their hash.
    func stage(output: Int, part: String?) throws(Failure) -> Answer? {
        if let failure = failure ?? violation?.failure { throw failure }
        guard areChecked, sums.count < Self.maxWaiting else { return nil }
        let hand = try hand(output)
        if let part {
            guard hand.mayHave(part: part) else {
                let shown = String(
                    part.unicodeScalars.prefix(100).map { (0x20..<0x7f).contains($0.value) ? Character($0) : "?" })
                throw violate(
                    "respool-transcode requested a part '\(shown)' of output \(output), which its format does not have")
            }
            try claims?.begin(part, of: output, hand)
        }
        try checkLimits()
        let answer = try hand.stage(part: part)
        // The output is made once more.
        if part == nil { sums.removeAll { $0.output == output && $0.part == nil } }
        return answer
    }

    /// Begins to hash the main file of an output, and returns a descriptor with which the transcoder can check it.
    func seal(output: Int) throws(Failure) -> Answer {
        if let failure = failure ?? violation?.failure { throw failure }
        return try hand(output).seal { sums.append($0) }
    }

    /// An unnamed temporary file.
    func scratch() throws(Failure) -> Answer {
        if let violation { throw violation.failure }
        try checkLimits()
        let file = try scratchFile(policy: policy)
        do throws(Errno) {
            let writer = try file.writer()
            unsealed.add(file)
            return Answer(message: .scratch, descriptor: writer)
        } catch { throw Failure(.internal, "the spool cannot be opened for writing: \(error)") }
    }

    /// Fails if nothing more may be written.
    private func checkLimits() throws(Failure) {
        unsealed.release()
        if let excess = limits.excess(outputs, unsealed) { throw violate(excess, .tooLarge) }
        try limits.checkCount(outputs, unsealed)
        nextMeasurement = nextMeasurement ?? .now + WriteLimits.interval
    }

    private func measure(_ now: ContinuousClock.Instant) {
        guard let next = nextMeasurement, now >= next else { return }
        unsealed.release()
        for output in outputs { output.startWriteBack() }
        if let excess = limits.excess(outputs, unsealed) {
            violate(excess, .tooLarge)
            // The transcoder may continue to write until it is killed.
            unsealed.empty()
        }
        let isWritten = !unsealed.isEmpty || outputs.contains { $0.writableFiles > 0 }
        nextMeasurement = isWritten ? now + WriteLimits.interval : nil
    }

    /// Whether the transcoder has closed all files that it could write to. Checked after the outputs are aborted.
    var isReleased: Bool {
        unsealed.release()
        return !unsealed.areOpen
    }

    /// The transcoder's protocol violation at the end of the job, if any. Releases all files.
    func takeViolation() -> Failure? {
        let isOpen = unsealed.releaseAll()
        if let violation { return violation.failure }
        return isOpen ? Failure(.crashed, "respool-transcode keeps a file open that it should have closed") : nil
    }

    /// Fails the whole job, because the transcoder can no longer be trusted.
    @discardableResult
    func violate(_ what: String, _ code: ErrorCode = .crashed) -> Failure {
        let failure = Failure(code, what)
        if violation == nil { violation = (failure, isReported: false) }
        // Outputs that are being published are complete, and no process can write to them.
        guard publishing == nil else { return failure }
        self.failure = failure
        for index in outputs.indices { fail(index, failure) }
        return failure
    }

    /// Takes over a complete file, and queues it for hashing.
    func finish(output: Int, part: String?, reportingTo control: borrowing PacketSocket) throws(PacketError) {
        guard checkUnfinished(output) else { return }
        do throws(Failure) {
            let session = try hand(output)
            if let sum = try session.finish(part: part) { return sums.append(sum) }
            if let summed = session.takeSummed() { try keep(summed, reportingTo: control) }
        } catch { return try fail(output, error, reportingTo: control) }
        try tick(.now, reportingTo: control)
    }

    /// Keeps a hashed file, and reports its output if it is complete.
    private func keep(_ summed: SummedFile, reportingTo control: borrowing PacketSocket) throws(Failure) {
        if let staged = try outputs[summed.sum.output].keep(summed) {
            try? control.send(TransferReport.staged(summed.sum.output, staged))
        }
    }

    /// Discards a failed output.
    func discard(output: Int) {
        guard checkUnfinished(output) else { return }
        fail(output, Failure(.internal, "output \(output) was aborted"))
    }

    /// Whether the output is unfinished. The transcoder may not report the end of an output that it has already reported as
    /// complete.
    private func checkUnfinished(_ index: Int) -> Bool {
        if outputs.indices.contains(index), !outputs[index].isFinished { return true }
        violate("respool-transcode reported the end of output \(index), which is not open")
        return false
    }

    private func fail(_ index: Int, _ failure: Failure) {
        guard outputs.indices.contains(index) else { return }
        sums.removeAll { $0.output == index }
        outputs[index].fail(failure)
    }

    /// Hashes the next bytes, so that orders are processed in between. Reports each output whose last file is hashed.
    func sumFurther(reportingTo control: borrowing PacketSocket) throws(PacketError) {
        guard let sum = sums.first, sum.isReady else { return }
        do throws(Failure) {
            guard let sha256 = try sum.readFurther() else { return }
            sums.removeFirst()
            try keep(SummedFile(sum: sum, sha256: sha256), reportingTo: control)
        } catch { try fail(sum.output, error, reportingTo: control) }
        // An output for a store may already be fully uploaded.
        try tick(.now, reportingTo: control)
    }

    // MARK: Outputs in progress

    /// The latest time at which `tick` must be called.
    var nextDeadline: ContinuousClock.Instant? {
        if violation?.isReported == false || isStreaming { return .now }
        let sign = publishing.map { $0.lastSign + Self.signInterval }
        return
            (outputs.compactMap(\.nextDeadline)
            + [
                nextMeasurement, isSealing ? .now + .milliseconds(5) : nil, sign,
                overwriteCheck.map(\.nextDeadline) ?? (owesCheck ? .now : nil),
            ].compactMap(\.self)
            + staleUploads.compactMap(\.nextDeadline)).min()
    }

    /// Whether the next file cannot be hashed yet, because a process can still write to it.
    private var isSealing: Bool { sums.first?.isReady == false }

    /// Advances uploads, checks and the publication.
    func tick(_ now: ContinuousClock.Instant, reportingTo control: borrowing PacketSocket) throws(PacketError) {
        measure(now)
        if let sum = sums.first, !sum.look(now) {
            violate(
                "respool-transcode can still write to a file of output \(sum.output) that it reported as complete")
        }
        if let violation, !violation.isReported {
            self.violation?.isReported = true
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

    /// Aborts everything that is not published.
    func abort() {
        publishing = nil
        overwriteCheck = nil
        for output in outputs { output.discard() }
    }

    /// The number of running requests to stores, and of objects that must still be removed.
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
