extension Route {
    /// All operations, in the order of the document.
    static let all: [Route] = queues + jobs + jobActions + listings + events + reference + probes
}
