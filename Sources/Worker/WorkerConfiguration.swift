import FoundationEssentials
import Glibc
package import JobSchema
import Lifecycle
package import Slots

/// How a worker runs.
package struct WorkerConfiguration: Sendable {
    /// The queues that are served, and in which order.
    package var queues: QueueOrder
    /// Jobs at once.
    package var slots: Int
    /// How long jobs may go on after the worker was asked to stop, before they are given back.
    package var grace: Duration
    /// How long a job is this worker's without a beat; the queue's default, if nothing.
    package var lease: Duration?
    /// How each slot runs, and what its jobs may touch.
    package var slot: SlotConfiguration
    /// What callbacks are signed with; without it none is sent.
    package var callbackSecrets: CallbackSecrets?

    package init(
        queues: QueueOrder = .default, slots: Int, grace: Duration = .seconds(25), lease: Duration? = nil,
        slot: SlotConfiguration = SlotConfiguration(), callbackSecrets: CallbackSecrets? = nil
    ) {
        self.queues = queues
        self.slots = slots
        self.grace = grace
        self.lease = lease
        self.slot = slot
        self.callbackSecrets = callbackSecrets
    }

    /// The configuration that the `RESPOOL_*` variables ask for; a value that cannot be read is named in the failure.
    package static func fromEnvironment() throws(Failure) -> WorkerConfiguration {
        let cores = min(ProcessInfo.processInfo.activeProcessorCount, processorQuota() ?? .max)
        return WorkerConfiguration(
            queues: try queueOrder(),
            slots: Int(try Setting.number("RESPOOL_SLOTS", 1...1024, isWhole: true) ?? Double(max(1, cores))),
            grace: .seconds(try Setting.number("RESPOOL_GRACE", 0...86_400) ?? 25),
            // A beat a second must fit in well.
            lease: try Setting.number("RESPOOL_LEASE", 3...3600).map { .seconds($0) },
            slot: try .fromEnvironment(), callbackSecrets: try .fromEnvironment())
    }

    private static func queueOrder() throws(Failure) -> QueueOrder {
        guard let text = Environment.value("RESPOOL_QUEUE") else { return .default }
        do throws(Failure) { return try QueueOrder(text) } catch {
            throw Failure(.invalidRequest, "RESPOOL_QUEUE: \(error.message)")
        }
    }

    /// Processors that the control group of a container allows, rounded up; nothing if it sets no limit. (cgroup v2, `cpu.max`)
    private static func processorQuota() -> Int? {
        guard let data = FileManager.default.contents(atPath: "/sys/fs/cgroup/cpu.max") else { return nil }
        let words = String(decoding: data, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        guard words.count == 2, let quota = Double(words[0]), let period = Double(words[1]), period > 0 else {
            return nil
        }
        return max(1, Int((quota / period).rounded(.up)))
    }
}

/// Reads one variable of the environment.
enum Setting {
    /// The number of a variable, if it is set.
    static func number(_ name: String, _ bounds: ClosedRange<Double>, isWhole: Bool = false) throws(Failure) -> Double?
    {
        guard let text = Environment.value(name) else { return nil }
        guard let number = isWhole ? Int(text).map(Double.init) : Double(text), bounds.contains(number) else {
            let kind = isWhole ? "a whole number" : "a number"
            throw Failure(
                .invalidRequest,
                "\(name) is `\(text)`: it must be \(kind) from \(Int(bounds.lowerBound)) to \(Int(bounds.upperBound))")
        }
        return number
    }
}
