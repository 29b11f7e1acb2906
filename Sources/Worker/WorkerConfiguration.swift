import FoundationEssentials
import Glibc
package import JobSchema
import Lifecycle
package import Slots

/// The configuration of a worker.
package struct WorkerConfiguration: Sendable {
    /// The queues that the worker serves, and their order.
    package var queues: QueueOrder
    /// The number of jobs that run at once.
    package var slots: Int
    /// How long jobs may continue after the worker was asked to stop, before they are released.
    package var grace: Duration
    /// The duration of a lease; `nil` for the queue's default.
    package var lease: Duration?
    /// The configuration of each slot, and what its jobs may access.
    package var slot: SlotConfiguration
    /// The secrets for signing callbacks; without them none is sent.
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

    /// The configuration from the `RESPOOL_*` variables; throws an error that names an invalid value.
    package static func fromEnvironment() throws(Failure) -> WorkerConfiguration {
        let cores = min(ProcessInfo.processInfo.activeProcessorCount, processorQuota() ?? .max)
        return WorkerConfiguration(
            queues: try queueOrder(),
            slots: Int(try Setting.number("RESPOOL_SLOTS", 1...1024, isWhole: true) ?? Double(max(1, cores))),
            grace: .seconds(try Setting.number("RESPOOL_GRACE", 0...86_400) ?? 25),
            // Long enough for several beats, one per second.
            lease: try Setting.number("RESPOOL_LEASE", 3...3600).map { .seconds($0) },
            slot: try .fromEnvironment(), callbackSecrets: try .fromEnvironment())
    }

    private static func queueOrder() throws(Failure) -> QueueOrder {
        guard let text = Environment.value("RESPOOL_QUEUE") else { return .default }
        do throws(Failure) { return try QueueOrder(text) } catch {
            throw Failure(.invalidRequest, "RESPOOL_QUEUE: \(error.message)")
        }
    }

    /// The number of processors that a container's control group allows, rounded up; `nil` if it sets no limit (cgroup
    /// v2, `cpu.max`).
    private static func processorQuota() -> Int? {
        guard let data = FileManager.default.contents(atPath: "/sys/fs/cgroup/cpu.max") else { return nil }
        let words = String(decoding: data, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        guard words.count == 2, let quota = Double(words[0]), let period = Double(words[1]), period > 0 else {
            return nil
        }
        return max(1, Int((quota / period).rounded(.up)))
    }
}

/// Parses an environment variable.
enum Setting {
    /// The number in a variable; `nil` if it is not set.
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
