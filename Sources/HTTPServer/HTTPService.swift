/// What answers the requests of a listener.
package protocol HTTPService: Sendable {
    /// Decides from the method, the path, the query and the headers. It is called on the listener's thread, so it must not block.
    func decide(_ request: HTTPRequest) -> HTTPDecision

    /// The response to a health check, which is sent however many requests are being processed; `nil` for any other request. It is
    /// called on the listener's thread, so it must not block.
    func probe(_ request: HTTPRequest) -> HTTPResponse?

    /// The response to a request that the listener itself refuses, in the form that clients of this service expect.
    func refusal(status: Int, _ message: String) -> HTTPResponse
}

extension HTTPService {
    package func probe(_ request: HTTPRequest) -> HTTPResponse? { nil }

    package func refusal(status: Int, _ message: String) -> HTTPResponse {
        HTTPResponse(status: status, message + "\n")
    }
}

/// How a request is answered.
package enum HTTPDecision: Sendable {
    /// At once; a body is not read, and the connection is closed if there is one.
    case answer(HTTPResponse)
    /// After the body was read, by a handler that may wait. A larger body gets status 413.
    case process(maxBodyBytes: Int, @Sendable (HTTPRequest) async -> HTTPResponse)
    /// By a sink that takes the body as it arrives. A body with a larger length gets status 413.
    case receive(maxBodyBytes: Int64, any HTTPBodySink)
}
