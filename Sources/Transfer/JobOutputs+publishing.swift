import JobSchema
import Lifecycle
import LocalFiles
import SlotIPC

// Publication of a job's outputs.
extension JobOutputs {
    struct Publishing {
        /// The outputs of which it is not known yet whether their publication could be reverted.
        var unprepared: [Int]
        /// The outputs that are not published yet.
        var rest: [Int]
        let count: Int
        var failures: [(Int, Failure)] = []
        var etags: [Int: String] = [:]
        /// When the last progress report was sent to the worker.
        var lastSign = ContinuousClock.now
    }

    static let signInterval = Duration.seconds(1)

    /// Whether the result is being copied to the descriptor that came with the job.
    var isStreaming: Bool { publishing != nil && targetNumber >= 0 }

    /// Publishes every complete output once; with `atomic`, all outputs or none.
    func publish(reportingTo control: borrowing PacketSocket) throws(PacketError) {
        let staged = outputs.indices.filter { outputs[$0].isStaged }
        guard !staged.isEmpty else {
            return try control.send(TransferReport.failed(Failure(.internal, "no complete output is staged")))
        }
        publishing = Publishing(
            unprepared: staged.filter { keptFiles(of: $0) == .all }, rest: staged, count: staged.count)
        try publishFurther(.now, reportingTo: control)
    }

    func publishFurther(
        _ now: ContinuousClock.Instant, reportingTo control: borrowing PacketSocket
    ) throws(PacketError) {
        while let index = publishing?.unprepared.first {
            let isPrepared: Bool
            do throws(Failure) { isPrepared = try outputs[index].prepare() } catch {
                try refuse(index, error, reportingTo: control)
                continue
            }
            guard isPrepared else { return try sign(now, reportingTo: control) }
            publishing?.unprepared.removeFirst()
        }
        while let index = publishing?.rest.first {
            let step: PublishingStep
            do throws(Failure) {
                step = try outputs[index].publish(
                    to: targetNumber, unlessReadable: control.number, keeping: keptFiles(of: index))
            } catch {
                try refuse(index, error, reportingTo: control)
                continue
            }
            switch step {
            case .underWay: return try sign(now, reportingTo: control)
            case .interrupted:
                publishing = nil
                return
            case .done(let etag):
                publishing?.etags[index] = etag
                publishing?.rest.removeFirst()
            }
        }
        guard let done = publishing else { return }
        publishing = nil
        if let (index, failure) = done.failures.first, isAtomic || done.failures.count == done.count {
            for output in outputs where output.isStaged { output.rollback() }
            return try control.send(TransferReport.failed(outputs.count > 1 ? failure.of(output: index) : failure))
        }
        for output in outputs { output.removeOld() }
        for (index, failure) in done.failures { try control.send(TransferReport.outputFailed(index, failure)) }
        try control.send(TransferReport.published(etags: done.etags))
    }

    /// Which replaced files are kept for the case that the publication of the output is reverted.
    private func keptFiles(of index: Int) -> KeptFiles {
        let hasParts = outputs[index].hasParts
        if isAtomic { return outputs.count > 1 || hasParts ? .all : .none }
        return hasParts ? .ifPossible : .none
    }

    /// Removes an output that cannot be published, and with `atomic` publishes no further one.
    private func refuse(
        _ index: Int, _ failure: Failure, reportingTo control: borrowing PacketSocket
    ) throws(PacketError) {
        publishing?.unprepared.removeAll { $0 == index }
        publishing?.rest.removeAll { $0 == index }
        outputs[index].rollback()
        if failure.code == .outputExists, outputs[index].overwrite == .skip {
            return try skip(index, reportingTo: control)
        }
        publishing?.failures.append((index, failure))
        guard isAtomic else { return }
        publishing?.unprepared = []
        publishing?.rest = []
    }

    /// Reports to the worker at intervals that the publication is still running.
    private func sign(
        _ now: ContinuousClock.Instant, reportingTo control: borrowing PacketSocket
    ) throws(PacketError) {
        guard let last = publishing?.lastSign, now - last >= Self.signInterval else { return }
        publishing?.lastSign = now
        try control.send(TransferReport.publishing)
    }
}
