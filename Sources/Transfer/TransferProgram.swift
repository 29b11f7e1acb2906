import Lifecycle
import SlotProtocol
import Storage

/// `respool-transfer`: moves the bytes of one job after another for the worker that started it.
package enum TransferProgram {
    /// Runs until the worker closes the control socket, and answers the exit code.
    package static func run(arguments: [String]) -> CInt {
        let log = Log().with("program", "respool-transfer")
        do throws(ChildStartError) { try ChildStart.enter(arguments: arguments) } catch {
            log.error(error.description)
            return 2
        }
        let control = ChildStart.control()
        let link = ChildStart.link()
        do {
            guard let policy = try greet(control) else { return 0 }
            try ChildStart.limit(
                memoryBytes: policy.memoryLimit, fileBytes: max(policy.mostSourceBytes, policy.mostOutputBytes),
                openFiles: 256)
            if let root = policy.outputRoot { StagedFiles.sweep(root) }
            let loop = TransferLoop(control: control, link: link, policy: policy)
            try loop.run()
            return 0
        } catch {
            log.error("\(error)")
            return 1
        }
    }

    /// Answers the hello; nothing if the worker is gone or speaks another version.
    private static func greet(_ control: borrowing PacketSocket) throws(PacketError) -> TransferPolicy? {
        guard let received = try control.receive(TransferOrder.self) else { return nil }
        guard case .hello(let version, let policy) = received.message else {
            throw .malformed("the first message is not hello")
        }
        try control.send(TransferReport.hello(version: slotProtocolVersion))
        return version == slotProtocolVersion ? policy : nil
    }
}
