/// How many replicas must have a write before it counts, and how long they may take. (`WAIT`)
package struct ReplicaWait: Sendable, Hashable {
    package let replicas: Int
    package let timeout: Duration

    package init(replicas: Int, timeout: Duration) {
        self.replicas = replicas
        self.timeout = timeout
    }
}
