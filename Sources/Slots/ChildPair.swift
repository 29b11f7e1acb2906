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
    /// Whose output to standard error is written down.
    let job: JobLabel
    /// The files that its sandbox lets it look things up in.
    private let lookups: FileIdentities
    private let owner = Mutex<String?>(nil)

    /// What either child says, and what happens to it.
    enum Event: Sendable {
        case transfer(TransferReport)
        case transcode(TranscodeReport)
        case ended(Child.Ending)
        /// Somebody called `stop`.
        case stopped
        /// Nothing came in time.
        case silent(TranscodeWatchdog)
    }

    /// What happens next; a silence is none where something was heard after all, or need not be any more.
    func next() async -> Event {
        while true {
            let event = await events.next()
            if case .silent(let watch) = event, !watch.isOverdue { continue }
            return event
        }
    }

    /// How many of the two are not reaped; their endings are in the mailbox, or were taken out of it.
    var living: Int { [transfer, transcode].filter { !$0.isReaped }.count }

    var isAlive: Bool { transfer.isUsable && transcode.isUsable }

    /// Whose jobs it runs; nothing before its first job, or if everybody's.
    var tenant: String? { owner.withLock { $0 } }

    /// Whether it may run the tenant's jobs; from the first one on it runs nobody else's.
    func serves(_ tenant: String?) -> Bool {
        guard let tenant else { return true }
        return owner.withLock { owner in
            let isFree = owner == nil || owner == tenant
            if isFree { owner = tenant }
            return isFree
        }
    }

    /// Whether a file that it looks things up in has another's place by now.
    func isOutdated(_ configuration: SlotConfiguration) async -> Bool {
        guard configuration.sandbox != .off else { return false }
        return await LookupFiles.shared.identities(configuration.policy) != lookups
    }

    private init(
        events: Mailbox<Event>, transfer: Child, transcode: Child, job: JobLabel, lookups: FileIdentities
    ) {
        self.events = events
        self.job = job
        self.lookups = lookups
        self.transfer = transfer
        self.transcode = transcode
    }

    /// Starts both children and greets them; answers as well what the kernel lacks to confine them.
    static func start(
        _ configuration: SlotConfiguration, log: Log
    ) async throws(Failure) -> (ChildPair, unconfined: Set<SandboxPart>) {
        do {
            // Before they start: what is exchanged meanwhile is noticed by the first job.
            let lookups = await LookupFiles.shared.identities(configuration.policy)
            let pair = try await spawn(source: configuration.source ?? -1, lookups, log: log)
            pair.transfer.send(TransferOrder.hello(version: slotProtocolVersion, policy: configuration.policy))
            pair.transcode.send(TranscodeOrder.hello(version: slotProtocolVersion, policy: configuration.transcode))
            let unconfined = try await pair.awaitGreetings()
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

    /// Asks both to end by themselves.
    func close() {
        transfer.close()
        transcode.close()
    }

    private static func spawn(source: CInt, _ lookups: FileIdentities, log: Log) async throws -> ChildPair {
        let events = Mailbox<Event>()
        let job = JobLabel()
        var link = try PacketSocket.pair()
        let linkOfTransfer = link.first.take()!
        let linkOfTranscode = link.second.take()!
        let transfer = try await Child.spawn(
            "respool-transfer", link: linkOfTransfer.number, source: source,
            handlers(of: "respool-transfer", events, job, log) { (report: TransferReport) in (.transfer(report), false)
            })
        do {
            let transcode = try await Child.spawn(
                "respool-transcode", link: linkOfTranscode.number,
                handlers(of: "respool-transcode", events, job, log) { (report: TranscodeReport) in
                    (.transcode(report), report.isProgress)
                })
            // The children have ends of their own now.
            _ = consume linkOfTransfer
            _ = consume linkOfTranscode
            return ChildPair(events: events, transfer: transfer, transcode: transcode, job: job, lookups: lookups)
        } catch {
            transfer.kill()
            throw error
        }
    }

    /// Puts what the child says into the mailbox, and what it writes into the log; `event` answers as well whether a newer report
    /// may take the place of one that nobody has read.
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

    private func awaitGreetings() async throws(Failure) -> Set<SandboxPart> {
        let watch = TranscodeWatchdog(pair: self, of: transfer, transcode, limit: .seconds(20))
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
                throw Failure(.internal, "\(ending) before its first job: try `\(ending.name)` by hand")
            default:
                kill()
                throw Failure(
                    .internal,
                    "respool-transfer or respool-transcode does not answer as this version does: "
                        + "install all programs of respool together")
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
    /// Writes down a line of a child's standard error, which nobody can take for the worker's own words.
    func wrote(_ line: String, child: String, job: String = "") {
        let log = job.isEmpty ? self : with("job", job)
        log.error("a child wrote to its standard error", ["child": child, "line": line])
    }
}
