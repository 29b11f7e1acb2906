extension Route {
    /// All operations, in the order of the document.
    static let all: [Route] =
        queues + jobs + jobFields + jobActions + listings + events + reference + access + probes
}
