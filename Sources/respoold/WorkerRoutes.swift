import Dashboard
import Lifecycle
import Worker

/// What a worker answers over HTTP.
enum WorkerRoutes {
    static func routes(contact: Contact, metrics: Metrics) -> HTTPRoutes {
        HTTPRoutes([
            "/healthz": { _ in
                contact.isAlive ? HTTPResponse("ok\n") : HTTPResponse(status: 503, "the worker is stuck\n")
            },
            "/readyz": { _ in
                contact.isReady
                    ? HTTPResponse("ok\n") : HTTPResponse(status: 503, "draining, or Redis does not answer\n")
            },
            "/metrics": { _ in
                HTTPResponse(contentType: "text/plain; version=0.0.4; charset=utf-8", metrics.render())
            },
        ])
    }
}
