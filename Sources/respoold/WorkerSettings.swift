import Configuration
import HTTPServer
import Jobs
import Lifecycle
import Redis
import SlotIPC
import Slots
import Worker

/// All settings of a worker from the environment, validated before anything starts.
struct WorkerSettings: Sendable {
    let redis: RedisURL
    let settings: QueueSettings
    let worker: WorkerConfiguration
    /// The replicas that must acknowledge a publication before it counts.
    let replicas: ReplicaWait?
    let listen: ListenAddress?
    let level: Log.Level
    /// Ports of Redis that remain open to the children, because jobs need them.
    let openPorts: [UInt16]

    /// Validates the settings; `nil` if a file system does not respond in time: that of the folder that is `examined`, or of a file
    /// if there is none.
    static func read(
        _ environment: Environment, examined: Monitor<String?>
    ) async throws(SettingError) -> WorkerSettings? {
        let timeout =
            try environment.value(Settings.folderTimeout).map { .seconds($0) } ?? SlotConfiguration().folderTimeout
        let settings = await BoundedCalls(label: "settings").value(within: timeout) {
            () -> Result<WorkerSettings, SettingError> in
            do throws(SettingError) {
                return .success(try WorkerSettings(environment) { folder in examined.change { $0 = folder } })
            } catch { return .failure(error) }
        }
        return try settings?.get()
    }

    private init(_ environment: Environment, examining: (String) -> Void) throws(SettingError) {
        var worker = try WorkerConfiguration(environment)
        try worker.checkFolders(examining: examining)
        var settings = try QueueSettings(environment)
        if let lease = worker.lease { settings.lease = lease }
        do throws(RedisError) { redis = try RedisURL(environment) } catch { throw SettingError(message: "\(error)") }
        openPorts = worker.slot.policy.close(redis.ports)
        // The timeout is at most a quarter of the lease, because a reply that arrives late in the lease is requested again.
        replicas = try ReplicaWait(environment).map {
            ReplicaWait(replicas: $0.replicas, timeout: min($0.timeout, settings.lease / 4))
        }
        listen = try Self.listenAddress(environment)
        level = try environment.value(Settings.log).flatMap { Log.Level(name: $0) } ?? .info
        // Without one by mistake, a whole backlog would fail for good.
        guard environment.text(Settings.outputRoot) != nil else {
            throw SettingError(
                message: "\(Settings.outputRoot.name) is not set: give --output-root DIR, or --output-root none "
                    + "if jobs write only to URLs")
        }
        (self.worker, self.settings) = (worker, settings)
    }

    private static func listenAddress(_ environment: Environment) throws(SettingError) -> ListenAddress? {
        guard let text = environment.text(Settings.listen) else { return nil }
        guard let address = ListenAddress(text) else { throw Settings.listen.error(text) }
        return address
    }
}
