/// The handlers of the paths of a service that only answers GET and HEAD at once.
package struct HTTPRoutes: HTTPService {
    /// Creates the response. It is called on the listener's thread, so it must not block.
    package typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

    private let handlers: [String: Handler]

    /// The keys are paths without the query; any other path gets status 404.
    package init(_ handlers: [String: Handler]) { self.handlers = handlers }

    package func decide(_ request: HTTPRequest) -> HTTPDecision {
        guard request.method == "GET" || request.method == "HEAD" else {
            return .answer(HTTPResponse(status: 405, "only GET and HEAD are supported\n").with("Allow", "GET, HEAD"))
        }
        guard let handler = handlers[request.path] else {
            let known = handlers.keys.sorted().joined(separator: ", ")
            return .answer(HTTPResponse(status: 404, "no such page; the pages are \(known)\n"))
        }
        return .answer(handler(request))
    }
}
