import CLinux
import Glibc
import Lifecycle
import SlotProtocol
import Storage

/// `respool-transfer`: moves the bytes of one job after another for the worker that started it.
package enum TransferProgram {
    /// Runs until the worker closes the control socket, and answers the exit code.
    package static func run(arguments: [String]) -> CInt {
        let log = Log().with("program", "respool-transfer")
        guard arguments.count == 2, let parent = pid_t(arguments[1]) else {
            log.error("respool-transfer is started by a worker, not by hand; use respool or respoold")
            return 2
        }
        clinux_die_with_parent()
        // A parent that died before the line above sends no signal any more.
        guard getppid() == parent else { return 0 }
        clinux_no_new_privileges()
        Signals.ignoreBrokenPipes()
        let control = PacketSocket(owning: Descriptor(owning: ChildDescriptor.control))
        let link = PacketSocket(owning: Descriptor(owning: ChildDescriptor.link))
        do throws(PacketError) {
            guard let policy = try greet(control) else { return 0 }
            limitProcess(policy)
            if let root = policy.outputRoot { StagedFiles.sweep(root) }
            let loop = TransferLoop(control: control, link: link, policy: policy)
            try loop.run()
            return 0
        } catch {
            log.error(error.description)
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
