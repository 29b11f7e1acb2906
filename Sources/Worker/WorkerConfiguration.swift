package import Configuration
import JobSchema
import SlotIPC
package import Slots
package import Tracing

/// The configuration of a worker.
package struct WorkerConfiguration: Sendable {
    /// The queues that the worker serves, and their order.
    package var queues: QueueOrder
    /// The number of jobs that run at once.
    package var slots: Int
    /// The number of further jobs whose sources are fetched while others run.
    package var prefetch: Int
    /// How long jobs may continue after the worker was asked to stop, before they are released.
    package var grace: Duration
    /// The duration of a lease; `nil` for the queue's default.
    package var lease: Duration?
    /// The configuration of each slot, and what its jobs may access.
    package var slot: SlotConfiguration
    /// The secrets for signing callbacks; without them none is sent.
    package var callbackSecrets: CallbackSecrets?
    /// Where spans are sent; `nil` if none are.
    package var traces: TraceSettings?
    /// The folder of previews, if this process may not write to it.
    var unusablePreviewFolder: String?

    package init(
        queues: QueueOrder = .default, slots: Int, prefetch: Int = 0, grace: Duration = .seconds(25),
        lease: Duration? = nil, slot: SlotConfiguration = SlotConfiguration(), callbackSecrets: CallbackSecrets? = nil,
        traces: TraceSettings? = nil
    ) {
        self.queues = queues
        self.slots = slots
        self.prefetch = prefetch
        self.grace = grace
        self.lease = lease
        self.slot = slot
        self.callbackSecrets = callbackSecrets
        self.traces = traces
    }

    /// The defaults, and what the environment has instead.
    package init(_ environment: Environment) throws(SettingError) {
        self.init(
            queues: try Self.queueOrder(environment),
            slots: try environment.value(Settings.slots) ?? CoreBudget.available,
            prefetch: try environment.value(Settings.prefetch) ?? 0,
            grace: try environment.value(Settings.grace) ?? .seconds(25), lease: try environment.value(Settings.lease),
            slot: try SlotConfiguration(environment), callbackSecrets: try CallbackSecrets(environment),
            traces: try TraceSettings(environment))
        slot.policy.previewFolder = environment.text(Settings.uploadFolder).map { Settings.previewFolder(of: $0) }
    }

    private static func queueOrder(_ environment: Environment) throws(SettingError) -> QueueOrder {
        guard let text = environment.text(Settings.queue) else { return .default }
        do throws(Failure) { return try QueueOrder(text) } catch {
            throw SettingError(message: "\(Settings.queue.name): \(error.message)")
        }
    }
}
