import Libav
import Lifecycle
import MediaTypes
import SlotIPC
import Synchronization
import Text

/// Reports the progress and the result of a job to the worker. Safe to use from any thread.
final class Reporter: Sendable {
    private let control: PacketSocket
    private let last = Mutex(Sent(progress: Progress(phase: .opening), at: .now))
    private let linesLeft = Atomic(0)
    /// The threads of the running conversion.
    private let threads = Mutex<ThreadBudget?>(nil)

    private static let maxLines = 200

    private struct Sent {
        var progress: Progress
        var at: ContinuousClock.Instant
    }

    init(control: consuming PacketSocket) {
        self.control = control
    }

    /// Waits for the worker's next order; `nil` if the worker is gone.
    func nextOrder() throws(PacketError) -> TranscodeOrder? {
        guard let received = try control.receive(TranscodeOrder.self) else { return nil }
        return received.message
    }

    /// Whether an order, or the end of the worker, comes within a time.
    func waitForOrder(milliseconds: CInt) throws(PacketError) -> Bool {
        try control.waitUntilReadable(milliseconds: milliseconds)
    }

    func send(_ report: TranscodeReport) throws(PacketError) {
        try control.send(report)
    }

    /// Begins a job. The number of its threads follows the worker's orders while it runs.
    func beginJob(_ threads: ThreadBudget? = nil) {
        self.threads.withLock { $0 = threads }
        linesLeft.store(Self.maxLines, ordering: .relaxed)
        last.withLock { $0 = Sent(progress: Progress(phase: .opening), at: .now) }
    }

    /// Reports the progress of the job to the worker.
    func report(_ progress: Progress) {
        last.withLock { $0 = Sent(progress: progress, at: .now) }
        readOrders()
        // If the worker is gone, this process ends anyway.
        try? control.send(TranscodeReport.progress(progress))
    }

    /// Reads the orders that came while the job runs.
    private func readOrders() {
        threads.withLock { threads in
            while (try? control.waitUntilReadable(milliseconds: 0)) == true {
                // Anything else is the end of the worker, which ends this process too.
                guard case .threads(let count)? = try? nextOrder() else { return }
                if let threads, !threads.isFixed { threads.count = count }
            }
        }
    }

    /// Repeats the last progress if none was sent for a second, so that the worker does not take waiting for a hang.
    func keepAlive() {
        let due = last.withLock { sent in sent.at.duration(to: .now) >= .seconds(1) ? sent.progress : nil }
        if let due { report(due) }
    }

    /// Forwards libav's warnings and errors to the worker, up to a limit per job.
    func forwardLibavLog() {
        LibavLog.install(level: .warning) { [self] _, line in
            guard linesLeft.subtract(1, ordering: .relaxed).newValue >= 0 else { return }
            try? control.send(TranscodeReport.log(line.prefix(utf8Bytes: 500)))
        }
    }
}
