extension Route {
    /// All operations, in the order of the document.
    static let all: [Route] =
        queues + jobs + jobFields + jobActions + jobChanges + bulkActions + outputs + uploads + previews + listings
        + schedules + limits
        + callbacks + workers
        + events + reference + access + [metrics] + probes
}
