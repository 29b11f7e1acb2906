import HTTPServer
import JobSchema
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

    static func fromEnvironment() throws(Failure) -> WorkerSettings {
        var worker = try WorkerConfiguration.fromEnvironment()
        try worker.checkFolders()
        var settings = try QueueSettings.fromEnvironment()
        if let lease = worker.lease { settings.lease = lease }
        let redis = try redisURL()
        let openPorts = worker.slot.policy.close(redis.ports)
        return WorkerSettings(
            redis: redis, settings: settings, worker: worker, replicas: try replicas(lease: settings.lease),
            listen: try listenAddress(), level: try logLevel(), openPorts: openPorts)
    }

    private static func redisURL() throws(Failure) -> RedisURL {
        do throws(RedisError) { return try .fromEnvironment() } catch { throw Failure(.invalidRequest, "\(error)") }
    }

    /// The timeout is at most a quarter of the lease, because a reply that arrives late in the lease is requested again.
    private static func replicas(lease: Duration) throws(Failure) -> ReplicaWait? {
        try ReplicaWait.fromEnvironment().map {
            ReplicaWait(replicas: $0.replicas, timeout: min($0.timeout, lease / 4))
        }
    }

    private static func listenAddress() throws(Failure) -> ListenAddress? {
        guard let text = Environment.value("RESPOOL_LISTEN") else { return nil }
        guard let address = ListenAddress(text) else {
            throw Failure(
                .invalidRequest,
                "RESPOOL_LISTEN is `\(text)`: it must be a port, or a numeric ADDRESS:PORT, as 127.0.0.1:9464")
        }
        return address
    }

    private static func logLevel() throws(Failure) -> Log.Level {
        guard let text = Environment.value("RESPOOL_LOG") else { return .info }
        guard let level = Log.Level(name: text) else {
            let names = Log.Level.allCases.map(\.name).joined(separator: ", ")
            throw Failure(.invalidRequest, "RESPOOL_LOG is `\(text)`: it must be one of \(names)")
        }
        return level
    }
}
