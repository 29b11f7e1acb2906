import Downloads
import Glibc
import Lifecycle
import LocalFiles
import Sandbox
import SlotIPC

/// `respool-transfer`: transfers the bytes of one job after another for the worker that started it, or posts the worker's
/// callbacks or traces.
package enum TransferProgram {
    /// Runs until the worker closes the control socket, and returns the exit code.
    package static func run(arguments: [String]) -> CInt {
        let log = Log(form: .text)
        do throws(ChildStartError) { try ChildStart.enter(arguments: Array(arguments.prefix(2))) } catch {
            log.error(error.description)
            return 2
        }
        // The kernel sends SIGIO when a process opens a file with a lease. Its default action would end this process.
        signal(SIGIO, SIG_IGN)
        let control = ChildStart.control()
        let link = ChildStart.link()
        do {
            if arguments.dropFirst(2) == [PostRequest.role] {
                try runPosting(control)
                return 0
            }
            guard let policy = try policy(control) else { return 0 }
            try ChildStart.limit(
                memoryBytes: policy.memoryLimit, fileBytes: max(policy.maxSourceBytes, policy.maxOutputBytes),
                openFiles: 256)
            let unconfined = ChildStart.isConfined ? try Confinement.enterTransfer(policy) : []
            try control.send(TransferReport.hello(version: slotProtocolVersion, unconfined: unconfined))
            for root in [policy.outputRoot, policy.previewFolder].compactMap(\.self) { StagedFiles.sweep(root) }
            if let cache = SourceCache(policy: policy) {
                cache.shrink()
            } else if let folder = policy.cacheFolder {
                log.warning(
                    "no source is cached in '\(folder)' (RESPOOL_CACHE_DIR): its file system does not support O_TMPFILE"
                )
            }
            let loop = TransferLoop(control: control, link: link, policy: policy)
            try loop.run()
            return 0
        } catch {
            log.error("\(error)")
            return 1
        }
    }

    private static func runPosting(_ control: consuming PacketSocket) throws {
        guard let received = try control.receive(PostOrder.self) else { return }
        guard case .hello(slotProtocolVersion, let policy) = received.message else {
            throw PacketError.malformed("the first message is not a hello of this version")
        }
        try ChildStart.limit(memoryBytes: policy.memoryLimit, fileBytes: policy.maxOutputBytes, openFiles: 256)
        // Missing kernel features have already been reported for the slots' children.
        if ChildStart.isConfined { _ = try Confinement.enterPosting(policy) }
        try control.send(PostReport.hello(version: slotProtocolVersion))
        try PostLoop(control: control, policy: policy).run()
    }

    /// The worker's policy; `nil` if the worker is gone or uses another protocol version.
    private static func policy(_ control: borrowing PacketSocket) throws(PacketError) -> TransferPolicy? {
        guard let received = try control.receive(TransferOrder.self) else { return nil }
        guard case .hello(let version, let policy) = received.message else {
            throw .malformed("the first message is not a hello")
        }
        guard version == slotProtocolVersion else {
            try control.send(TransferReport.hello(version: slotProtocolVersion, unconfined: []))
            return nil
        }
        return policy
    }
}
