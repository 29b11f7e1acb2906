import HTTPServer
import Jobs
import Lifecycle
import Worker

/// The HTTP routes of a worker.
enum WorkerRoutes {
    static func routes(
        health: WorkerHealth, metrics: Metrics, longestSilence: Duration = WorkerHealth.longestSilence,
        measure: @escaping @Sendable () -> Void = {}
    ) -> HTTPRoutes {
        HTTPRoutes([
            "/healthz": { _ in
                health.isAlive ? HTTPResponse("ok\n") : HTTPResponse(status: 503, "the worker is stuck\n")
            },
            "/readyz": { _ in
                if health.isReady(within: longestSilence) { return HTTPResponse("ok\n") }
                if let problem = health.hostProblem { return HTTPResponse(status: 503, "\(problem)\n") }
                let silent = health.silentQueues(for: longestSilence).map { "`\($0.text)`" }.joined(separator: ", ")
                return HTTPResponse(
                    status: 503,
                    silent.isEmpty
                        ? "draining, or Redis does not respond\n" : "Redis does not respond for the queue \(silent)\n")
            },
            "/metrics": { _ in
                measure()
                return HTTPResponse(contentType: "text/plain; version=0.0.4; charset=utf-8", metrics.render())
            },
        ])
    }
}
