/// How many replicas must acknowledge a write, and the timeout (`WAIT`).
package struct ReplicaWait: Sendable, Hashable {
    package let replicas: Int
    package let timeout: Duration

    package init(replicas: Int, timeout: Duration) {
        self.replicas = replicas
        self.timeout = timeout
    }
}
