/// The handlers of the paths that are served.
package struct HTTPRoutes: Sendable {
    /// Creates the response. It is called on the listener's thread, so it must not block.
    package typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

    private let handlers: [String: Handler]

    /// The keys are paths without the query; any other path gets status 404.
    package init(_ handlers: [String: Handler]) { self.handlers = handlers }

    func respond(method: String, path: String) -> HTTPResponse {
        guard method == "GET" || method == "HEAD" else {
            return HTTPResponse(status: 405, "only GET and HEAD are supported\n")
        }
        guard let handler = handlers[path] else {
            let known = handlers.keys.sorted().joined(separator: ", ")
            return HTTPResponse(status: 404, "no such page; the pages are \(known)\n")
        }
        return handler(HTTPRequest(path: path))
    }
}
