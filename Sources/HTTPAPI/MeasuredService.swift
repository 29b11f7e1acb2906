package import HTTPServer
import Lifecycle

/// Counts and times the responses of another service.
package struct MeasuredService<Service: HTTPService>: HTTPService {
    private let service: Service
    private let metrics: ServerMetrics
    private let routes = RouteTable(Route.all)
    private let basePath: String

    /// The routes are below the base path.
    package init(_ service: Service, _ metrics: ServerMetrics, basePath: String = "") {
        self.service = service
        self.metrics = metrics
        self.basePath = basePath
    }

    package func decide(_ request: HTTPRequest) -> HTTPDecision {
        let start = ContinuousClock.now
        let decision = service.decide(request)
        switch decision {
        case .answer(let response): record(response, to: request, since: start)
        case .process(let maxBodyBytes, let handler):
            return .process(maxBodyBytes: maxBodyBytes) { request in
                let response = await handler(request)
                record(response, to: request, since: start)
                return response
            }
        case .receive(let maxBodyBytes, let sink):
            return .receive(
                maxBodyBytes: maxBodyBytes,
                MeasuredSink(sink: sink) { response in record(response, to: request, since: start) })
        }
        return decision
    }

    package func probe(_ request: HTTPRequest) -> HTTPResponse? {
        let start = ContinuousClock.now
        let response = service.probe(request)
        if let response { record(response, to: request, since: start) }
        return response
    }

    package func refusal(status: Int, _ message: String) -> HTTPResponse {
        let response = service.refusal(status: status, message)
        metrics.answered(method: Self.other, route: Self.other, status: response.status, seconds: 0)
        return response
    }

    /// The label of what has no route, so that clients cannot make series.
    private static var other: String { "other" }

    private func record(_ response: HTTPResponse, to request: HTTPRequest, since start: ContinuousClock.Instant) {
        let isBelow = request.path.hasPrefix(basePath + "/")
        let found = routes.find(isBelow ? String(request.path.dropFirst(basePath.count)) : request.path).map(\.route)
        let method = request.method == "HEAD" ? "GET" : request.method
        metrics.answered(
            method: found.first { $0.method == method }?.method ?? Self.other, route: found.first?.path ?? Self.other,
            status: response.status, seconds: start.duration(to: .now).seconds)
    }
}

/// Reports the response to a body that is received as it arrives.
private struct MeasuredSink: HTTPBodySink {
    let sink: any HTTPBodySink
    let report: @Sendable (HTTPResponse) -> Void

    func begin() -> HTTPResponse? {
        let refusal = sink.begin()
        if let refusal { report(refusal) }
        return refusal
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> HTTPResponse? {
        let refusal = sink.write(bytes)
        if let refusal { report(refusal) }
        return refusal
    }

    func end(isComplete: Bool) -> HTTPResponse {
        let response = sink.end(isComplete: isComplete)
        if isComplete { report(response) }
        return response
    }
}
