import Glibc
import Lifecycle
import SlotProtocol

/// The two children of a slot, linked to each other.
final class ChildPair: Sendable {
    let events: Mailbox<Event>
    let transfer: Child
    let transcode: Child

    /// What either child says, and what happens to it.
    enum Event: Sendable {
        case transfer(TransferReport)
        case transcode(TranscodeReport)
        case ended(Child.Ending)
        /// Somebody called `stop`, or nothing came in time.
        case stopped
        case silent
    }

    /// How many of the two are not reaped; their endings are in the mailbox, or were taken out of it.
    var living: Int { [transfer, transcode].filter { !$0.isReaped }.count }

    var isAlive: Bool { living == 2 }

    private init(events: Mailbox<Event>, transfer: Child, transcode: Child) {
        self.events = events
        self.transfer = transfer
        self.transcode = transcode
    }

    /// Starts both children and greets them; answers as well what the kernel lacks to confine them.
    static func start(
        _ configuration: SlotConfiguration
    ) async throws(Failure) -> (ChildPair, unconfined: Set<SandboxPart>) {
        do {
            let pair = try await spawn(source: configuration.source ?? -1)
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

    private static func spawn(source: CInt) async throws -> ChildPair {
        let events = Mailbox<Event>()
        var link = try PacketSocket.pair()
        let linkOfTransfer = link.first.take()!
        let linkOfTranscode = link.second.take()!
        let transfer = try await Child.spawn(
            "respool-transfer", link: linkOfTransfer.number, source: source, { events.append(.transfer($0)) },
            { events.append(.ended($0)) })
        do {
            let transcode = try await Child.spawn(
                "respool-transcode", link: linkOfTranscode.number, { events.append(.transcode($0)) },
                { events.append(.ended($0)) })
            // The children have ends of their own now.
            _ = consume linkOfTransfer
            _ = consume linkOfTranscode
            return ChildPair(events: events, transfer: transfer, transcode: transcode)
        } catch {
            transfer.kill()
            throw error
        }
    }

    private func awaitGreetings() async throws(Failure) -> Set<SandboxPart> {
        let alarm = Task { [events] in
            try await Task.sleep(for: .seconds(20))
            events.append(.silent)
        }
        defer { alarm.cancel() }
        var greeted = 0
        var unconfined: Set<SandboxPart> = []
        while greeted < 2 {
            switch await events.next() {
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
