package import Configuration
package import Redis

extension ReplicaWait {
    /// The settings in the environment, at least `fallback` replicas; `nil` if no replica is required.
    package init?(_ environment: Environment, fallback: Int = 0) throws(SettingError) {
        let replicas = max(fallback, try environment.value(Settings.waitReplicas) ?? 0)
        let timeout = try environment.value(Settings.waitTimeout) ?? .seconds(1)
        guard replicas > 0 else { return nil }
        self.init(replicas: replicas, timeout: timeout)
    }
}
