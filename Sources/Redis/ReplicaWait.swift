/// How many replicas must acknowledge a write, and the timeout (`WAIT`).
package struct ReplicaWait: Sendable, Hashable {
    /// The number of replicas that must acknowledge.
    package let replicas: Int
    /// How long to wait for them.
    package let timeout: Duration

    package init(replicas: Int, timeout: Duration) {
        self.replicas = replicas
        self.timeout = timeout
    }
}
