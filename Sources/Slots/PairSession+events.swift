import JobSchema
import Lifecycle
import MediaTypes
import SlotIPC
import Synchronization

// How a slot handles events of its children.
extension PairSession {
    /// Handles an event that the current wait does not expect.
    func handle(_ event: ChildPair.Event, _ pair: ChildPair) throws(SlotError) {
        switch event {
        case .transcode(.log(let line)): lines.append(line)
        case .transfer(.uploading(let index, let output)): uploads[index] = output
        // One child may report the end of the other before that is reaped.
        case .transcode(.failed(let failure)) where isTranscodeBusy && failure.code == .crashed:
            throw crash(pair, failure.bounded.message)
        case .transcode(.failed(let failure)) where isTranscodeBusy:
            let checked = try plausible(pair) { () throws(ImplausibleReport) in try failure.checked() }
            isTranscodeBusy = false
            throw .failed(checked, log: lines.all)
        case .transfer(.failed(let failure)): throw .failed(failure.bounded, log: lines.all)
        case .transfer(.violation(let failure)): throw violation(pair, failure)
        case .stopped: throw .stopped
        case .ended(let ending): throw crash(pair, "\(ending)")
        case .silent:
            throw crash(
                pair, "respool-transcode sent no message for \(Int(configuration.silence.seconds)) s and was killed")
        // These may be left over from the end of a conversion.
        case .transcode(.progress), .transfer(.staged), .transfer(.outputFailed), .transfer(.outputSkipped),
            .transfer(.checked), .transfer(.publishing), .transfer(.waiting):
            return
        case .transcode:
            throw crash(pair, "respool-transcode sent an unexpected answer and was killed")
        case .transfer: throw crash(pair, "respool-transfer sent an unexpected answer and was killed")
        }
    }

    /// A validated value of the transcoder; if it is not plausible, the children are killed.
    func plausible<Value>(
        _ pair: ChildPair, _ check: () throws(ImplausibleReport) -> Value
    ) throws(SlotError) -> Value {
        do throws(ImplausibleReport) { return try check() } catch {
            throw crash(pair, "respool-transcode reported \(error), which is not possible, and was killed")
        }
    }

    func crash(_ pair: ChildPair, _ what: String) -> SlotError {
        let (isStopped, hasUploads) = shared.withLock { ($0.isStopped, $0.hasUploads) }
        if hasUploads { pair.transcode.kill() } else { pair.kill() }
        isTranscodeBusy = true
        guard !isStopped else { return .stopped }
        log.warning("a child crashed", ["job": job, "reason": what])
        let last = lines.all.last.map { "; last log line of libav: \($0)" } ?? ""
        return .crashed(Failure(.crashed, what + last), log: lines.all)
    }

    /// Kills a transcoder that violated the protocol.
    func violation(_ pair: ChildPair, _ failure: Failure) -> SlotError {
        let error = crash(pair, failure.message)
        guard failure.code != .crashed, case .crashed(_, let log) = error else { return error }
        return .failed(failure, log: log)
    }
}
