import Downloads
import Glibc
import JobSchema
import Lifecycle
import LocalFiles
import Playlists
import Requests
import SlotIPC

/// The transfers of one job, from its order to its end, and all resources that are released then.
final class TransferSession {
    private let job: TransferJob
    private let client: HTTPClient
    /// The cache of whole sources, if the policy has one.
    private let cache: SourceCache?
    private let outputs: JobOutputs
    private var source: OpenSource?
    /// The file of the source that was passed with the job, until it is opened.
    private var passed: Descriptor?
    private var nested: NestedSources?
    /// Whether the last report to the worker said that the source waits for its turn.
    private var wasWaiting = false
    /// The request over the link that has no reply yet.
    private(set) var pending: LinkRequest?
    /// Whether the job has not begun: its source is fetched in advance.
    private(set) var isPrefetching: Bool
    /// Whether the source is fetched only when the job has begun.
    private var isPostponed = false

    init(
        _ job: TransferJob, passed: consuming Descriptor? = nil, target: consuming Descriptor?, client: HTTPClient,
        isPrefetching: Bool = false
    ) {
        self.job = job
        self.client = client
        cache = SourceCache(policy: client.policy)
        self.isPrefetching = isPrefetching
        self.passed = passed
        outputs = JobOutputs(job, target: target, client: client)
        client.resetFetched()
    }

    var isSumming: Bool { outputs.isSumming }

    /// The latest time at which `tick` must be called.
    var nextDeadline: ContinuousClock.Instant? {
        [source?.nextDeadline, nested?.nextDeadline, outputs.nextDeadline].compactMap(\.self).min()
    }

    /// Handles timeouts, retries and network events.
    func tick(reportingTo control: borrowing PacketSocket) throws(PacketError) {
        source?.tick(.now)
        nested?.tick()
        let isWaiting = source?.isWaiting ?? false
        if isWaiting != wasWaiting {
            try control.send(TransferReport.waiting(isWaiting))
            wasWaiting = isWaiting
        }
        try outputs.tick(.now, reportingTo: control)
        if isPrefetching { prefetch() }
    }

    // MARK: Before the job begins

    /// Fetches the source, as long as its folder has enough free space.
    private func prefetch() {
        guard !isPostponed, outputs.areChecked else { return }
        do throws(Failure) {
            if source == nil {
                let location = try SourceLocation(job.sourceURL)
                if case .file = location { return }
                isPostponed = outputs.failure != nil || outputs.haveAllFailed || !client.policy.hasSpaceToPrefetch
                guard !isPostponed else { return }
                source = try OpenSource.open(location, access(), client: client, cache: cache)
            }
            // What was fetched of a stream would be over by then.
            isPostponed = source?.isEndless == true || !isFetched && !client.policy.hasSpaceToPrefetch
            if isPostponed { source = nil }
        } catch {
            // The transcoder gets the same failure.
            isPostponed = true
        }
    }

    /// Begins a job whose source was fetched in advance.
    func begin() {
        isPrefetching = false
        // That of a live stream has other segments by now.
        if isPlaylist { source = nil }
    }

    /// Whether all bytes of the source are available.
    private var isFetched: Bool {
        guard let length = source?.length else { return false }
        return source?.run(from: 0) == length
    }

    private var isPlaylist: Bool {
        guard source?.run(from: 0) ?? 0 >= PlaylistMark.length, let reader = try? source?.reader() else { return false }
        return PlaylistMark.begins(PlaylistNames.read(reader, PlaylistMark.length) ?? [])
    }

    // MARK: The end

    /// Aborts everything that is not published. Requests to stores may still run afterwards.
    func abort() { outputs.abort() }

    /// Whether the transcoder has closed all files that it could write to. Checked after `abort`.
    var isReleased: Bool { outputs.isReleased }

    /// The transcoder's protocol violation at the end of the job, if any. Releases all files.
    func takeViolation() -> Failure? { outputs.takeViolation() }

    /// The number of running requests to stores, and of objects that must still be removed.
    var remaining: Int { outputs.remaining }

    /// Why something may be left at a store.
    var leftBehind: Failure? { outputs.leftBehind }

    /// What was taken of the source; `nil` if none was opened.
    var sourceUse: SourceUse? {
        guard let isLocal = source?.isLocal else { return nil }
        if isLocal { return SourceUse(bytes: source?.length ?? 0) }
        let fetched = client.fetched
        let isComplete = source?.failure == nil && source?.length != nil
        return SourceUse(
            bytes: fetched.bytes, fetchSeconds: fetched.time.seconds,
            isCached: cache == nil || !isComplete ? nil : fetched.isRevalidated, fetched: fetched.span)
    }

    /// Fails the job for a protocol violation of the transcoder.
    func reportViolation(_ what: String) { outputs.violate(what) }

    // MARK: Requests of the transcoder

    /// Starts to process a request. `takeAnswer` returns the reply.
    func begin(_ request: LinkRequest, reportingTo control: borrowing PacketSocket) throws(PacketError) {
        switch request {
        case .expect(let reference, let parent, let kind):
            nested?.expect(reference, within: parent, as: kind)
            return
        case .finished(let output, let part):
            return try outputs.finish(output: output, part: part, reportingTo: control)
        case .discard(let output): return outputs.discard(output: output)
        case .need(let offset) where offset >= 0: source?.need(offset)
        case .open, .openNested, .scratch, .titles, .need, .stage, .seal: break
        }
        pending = request
    }

    /// The reply to the pending request, once there is one.
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
        case .seal(let output): try outputs.seal(output: output)
        case .finished, .discard, .expect: nil
        }
    }

    private func openNested(
        _ reference: String, within parent: Int, as kind: NestedReference
    ) throws(Failure) -> Answer? {
        guard source != nil else { throw Failure(.internal, "a source refers to others before it is open") }
        if nested == nil {
            if let failure = source?.failure { throw failure }
            // An endless stream is not a playlist. A source over the size limit of playlists need not be complete.
            let length = source?.length ?? .max
            let present = source?.run(from: 0) ?? 0
            guard length > client.policy.maxPlaylistBytes || present >= length else {
                source?.need(present)
                return nil
            }
            guard let reader = try source?.reader() else { return nil }
            let names = PlaylistNames(in: reader, length: length, atMost: client.policy.maxPlaylistBytes)
            nested = NestedSources(names, base: source?.base ?? job.sourceURL, try access(), client: client)
        }
        guard let opened = try nested!.open(reference, within: parent, as: kind) else { return nil }
        return Answer(message: .openedWhole(number: opened.number), descriptor: opened.reader)
    }

    private func open() throws(Failure) -> Answer? {
        guard outputs.areChecked else { return nil }
        if let failure = outputs.failure { throw failure }
        if source == nil { source = try openSource() }
        if let failure = source?.failure { throw failure }
        let available = source?.run(from: 0) ?? 0
        if source?.isEndless == true {
            guard let reader = try source?.reader() else { return nil }
            return Answer(message: .openedStream(available: available), descriptor: reader)
        }
        guard let length = source?.length, let reader = try source?.reader() else { return nil }
        return Answer(message: .opened(length: length, available: available), descriptor: reader)
    }

    private func openSource() throws(Failure) -> OpenSource {
        if let file = passed.take() {
            return .local(
                try LocalSource.adopt(file, path: SourceLocation.shownPath(job.sourceURL), policy: client.policy))
        }
        return try OpenSource.open(
            SourceLocation(job.sourceURL), access(), client: client, cache: cache)
    }

    private func access() throws(Failure) -> WebAccess {
        WebAccess(job.access, to: try SourceLocation(job.sourceURL), policy: client.policy)
    }

    private func have(_ offset: Int64) throws(Failure) -> Answer? {
        guard offset >= 0, source != nil else {
            throw Failure(.internal, "bytes at \(offset) are requested of a source that is not open there")
        }
        let run = source?.run(from: offset) ?? 0
        let isAtEnd = offset >= source?.length ?? .max || source?.isFinished == true
        if run > 0 || isAtEnd { return Answer(message: .have(offset: offset, length: run)) }
        if let failure = source?.failure { throw failure }
        return nil
    }

    // MARK: Finished outputs

    /// Hashes the next bytes of the complete files.
    func sumFurther(reportingTo control: borrowing PacketSocket) throws(PacketError) {
        try outputs.sumFurther(reportingTo: control)
    }

    /// Publishes the outputs once.
    func publish(reportingTo control: borrowing PacketSocket) throws(PacketError) {
        try outputs.publish(reportingTo: control)
    }
}

/// A reply over the link, with its descriptor if there is one.
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
