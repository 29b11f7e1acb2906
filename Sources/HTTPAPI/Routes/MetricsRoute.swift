extension Route {
    /// The route for Prometheus.
    static let metrics = Route(
        method: "GET", path: "/metrics", name: "getMetrics",
        summary: "The figures of the queues and of this server, as Prometheus reads them.", role: .read,
        responses: [(200, "the text format of Prometheus", Schema.string)], contentType: "text/plain"
    ) { request in
        guard request.token.groupPrefix == nil else {
            throw Problem(403, "scope_denied", "the token is for groups, and this shows all jobs of a queue")
        }
        let text = await request.context.metrics.text(queue: request.token.queue)
        return Reply(
            status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8", body: Array(text.utf8))
    }
}
