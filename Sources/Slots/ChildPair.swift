import Glibc
import JobSchema
import Lifecycle
import SlotIPC
import Synchronization

/// The two children of a slot, linked to each other.
final class ChildPair: Sendable {
    let events: Mailbox<Event>
    let transfer: Child
    let transcode: Child
    /// The job to which lines of standard error are attributed.
    let job: JobLabel
    /// The files and folders that the sandbox of `transfer` allows.
    private let files: SandboxedFiles
    private let owner = Mutex<String?>(nil)

    /// A report of either child, or a change of its state.
    enum Event: Sendable {
        case transfer(TransferReport)
        case transcode(TranscodeReport)
        case ended(Child.Ending)
        /// `stop` was called.
        case stopped
        /// A timeout has expired.
        case silent(SilenceWatchdog)
    }

    /// The next event; a timeout is ignored if it has been reset or ended since.
    func next() async -> Event {
        while true {
            let event = await events.next()
            if case .silent(let watch) = event, !watch.isOverdue { continue }
            return event
        }
    }

    /// How many of the two are not reaped. Their ends are delivered as events.
    var living: Int { [transfer, transcode].filter { !$0.isReaped }.count }

    var isAlive: Bool { transfer.isUsable && transcode.isUsable }

    /// The tenant whose jobs it runs; `nil` before its first job, or if jobs have no tenants.
    var tenant: String? { owner.withLock { $0 } }

    /// Whether it may run the tenant's jobs; after the first one, it runs no other tenant's.
    func serves(_ tenant: String?) -> Bool {
        guard let tenant else { return true }
        return owner.withLock { owner in
            let isFree = owner == nil || owner == tenant
            if isFree { owner = tenant }
            return isFree
        }
    }

    /// Which of its files or folders have been replaced; `nil` if none have.
    func outdated(_ configuration: SlotConfiguration) async throws(Failure) -> String? {
        guard configuration.sandbox != .off else { return nil }
        guard let current = await LookupFiles.shared.all(configuration) else { throw Self.noResponse }
        if current.folders != files.folders { return "a folder of jobs was replaced" }
        return current.lookups == files.lookups ? nil : "a resolver, certificate or key file has changed"
    }

    /// Whether a folder of jobs has been replaced.
    func hasLostFolders(_ configuration: SlotConfiguration) async -> Bool {
        guard configuration.sandbox != .off else { return false }
        return await LookupFiles.shared.all(configuration)?.folders != files.folders
    }

    private init(
        events: Mailbox<Event>, transfer: Child, transcode: Child, job: JobLabel, files: SandboxedFiles
    ) {
        self.events = events
        self.job = job
        self.files = files
        self.transfer = transfer
        self.transcode = transcode
    }

    private static let noResponse = Failure(
        .internal, "a file system does not respond: that of a folder of jobs, or of a resolver, certificate or key file"
    )

    /// How often a pair is started if one of its children is killed meanwhile, as by the kernel when memory is short.
    private static let maxStarts = 3

    /// Starts both children and sends `hello`; also returns the features that the kernel lacks to confine them.
    static func start(
        _ configuration: SlotConfiguration, log: Log
    ) async throws(Failure) -> (ChildPair, unconfined: Set<SandboxPart>) {
        for _ in 1..<maxStarts {
            if let started = try await start(configuration, log: log, mayRepeat: true) { return started }
        }
        return try await start(configuration, log: log, mayRepeat: false)!
    }

    /// Starts both children; `nil` if one was killed and the start may be repeated.
    private static func start(
        _ configuration: SlotConfiguration, log: Log, mayRepeat: Bool
    ) async throws(Failure) -> (ChildPair, unconfined: Set<SandboxPart>)? {
        do {
            // Read before the children start, so that the first job detects files that were replaced in the meantime.
            guard let files = await LookupFiles.shared.all(configuration) else { throw noResponse }
            let pair = try await spawn(sourceDescriptor: configuration.sourceDescriptor ?? -1, files, log: log)
            pair.transfer.send(TransferOrder.hello(version: slotProtocolVersion, policy: configuration.policy))
            pair.transcode.send(TranscodeOrder.hello(version: slotProtocolVersion, policy: configuration.transcode))
            guard let unconfined = try await pair.awaitGreetings(mayRepeat: mayRepeat) else { return nil }
            if configuration.sandbox == .require, !unconfined.isEmpty {
                pair.kill()
                throw Failure(
                    .internal,
                    "RESPOOL_SANDBOX is `require`, and this kernel or container has no \(unconfined.text): allow it, or say `on`"
                )
            }
            return (pair, unconfined)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.internal, "cannot start the children of a slot: \(error)")
        }
    }

    func kill() {
        transfer.kill()
        transcode.kill()
    }

    /// Asks both to exit.
    func close() {
        transfer.close()
        transcode.close()
    }

    private static func spawn(sourceDescriptor: CInt, _ files: SandboxedFiles, log: Log) async throws -> ChildPair {
        let events = Mailbox<Event>()
        let job = JobLabel()
        var link = try PacketSocket.pair()
        let linkOfTransfer = link.first.take()!
        let linkOfTranscode = link.second.take()!
        let transfer = try await Child.spawn(
            "respool-transfer", link: linkOfTransfer.number, sourceDescriptor: sourceDescriptor,
            handlers(of: "respool-transfer", events, job, log) { (report: TransferReport) in (.transfer(report), false)
            })
        do {
            let transcode = try await Child.spawn(
                "respool-transcode", link: linkOfTranscode.number,
                handlers(of: "respool-transcode", events, job, log) { (report: TranscodeReport) in
                    (.transcode(report), report.isProgress)
                })
            // The children have their own copies now.
            _ = consume linkOfTransfer
            _ = consume linkOfTranscode
            return ChildPair(events: events, transfer: transfer, transcode: transcode, job: job, files: files)
        } catch {
            transfer.kill()
            throw error
        }
    }

    /// Puts the child's reports into the mailbox, and its output into the log; `event` also returns whether a newer
    /// report may replace an unread one.
    private static func handlers<Report: Sendable>(
        of name: String, _ events: Mailbox<Event>, _ job: JobLabel, _ log: Log,
        event: @escaping @Sendable (Report) -> (Event, isReplaceable: Bool)
    ) -> Child.Handlers<Report> {
        Child.Handlers(
            report: { report, size in
                let (event, isReplaceable) = event(report)
                return events.offer(event, bytes: size, from: name, replaceable: isReplaceable)
            },
            silenced: { events.mute(name) },
            ended: { events.append(.ended($0)) },
            wrote: { log.wrote($0, child: name, job: job.id) })
    }

    /// The features that the kernel lacks; `nil` if a child was killed and the start may be repeated.
    private func awaitGreetings(mayRepeat: Bool) async throws(Failure) -> Set<SandboxPart>? {
        let watch = SilenceWatchdog(pair: self, of: transfer, transcode, limit: .seconds(20))
        defer { watch.end() }
        var greeted = 0
        var unconfined: Set<SandboxPart> = []
        while greeted < 2 {
            switch await next() {
            case .transfer(.hello(slotProtocolVersion, let parts)), .transcode(.hello(slotProtocolVersion, let parts)):
                greeted += 1
                unconfined.formUnion(parts)
            case .ended(let ending):
                kill()
                if mayRepeat, ending.wasKilled { return nil }
                throw Failure(.internal, "\(ending) before its first job: run `\(ending.name)` to see why")
            case .silent:
                kill()
                throw Failure(.internal, "respool-transfer or respool-transcode sent nothing after its start")
            default:
                kill()
                throw Failure(
                    .internal,
                    "respool-transfer or respool-transcode is of another version: install all programs of respool together"
                )
            }
        }
        return unconfined
    }
}

extension TranscodeReport {
    fileprivate var isProgress: Bool {
        if case .progress = self { true } else { false }
    }
}

extension Log {
    /// Logs a line of a child's standard error, in a form that cannot be confused with the worker's own messages.
    func wrote(_ line: String, child: String, job: String = "") {
        let log = job.isEmpty ? self : with("job", job)
        log.error("a child wrote to its standard error", ["child": child, "line": line])
    }
}
