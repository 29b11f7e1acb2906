package import Configuration
package import Redis

extension ReplicaWait {
    /// What the environment asks for, at least `fallback` replicas; nothing if there is no replica to wait for.
    package init?(_ environment: Environment, fallback: Int = 0) throws(SettingError) {
        let replicas = max(fallback, try environment.value(Settings.waitReplicas) ?? 0)
        let timeout = try environment.value(Settings.waitTimeout) ?? .seconds(1)
        guard replicas > 0 else { return nil }
        self.init(replicas: replicas, timeout: timeout)
    }
}
