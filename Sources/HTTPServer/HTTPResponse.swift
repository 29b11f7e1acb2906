/// The response to an HTTP request.
package struct HTTPResponse: Sendable {
    /// The HTTP status code.
    package var status: Int
    /// The value of `Content-Type`; without one if it is empty.
    package var contentType: String
    /// Further headers.
    package var headers: [(name: String, value: String)] = []
    /// What follows the headers.
    package var body: Body

    /// The content of a response.
    package enum Body: Sendable {
        case bytes([UInt8])
        /// Bytes that are sent as they come, until the stream ends.
        case stream(HTTPStream)
        /// A part of a file.
        case file(HTTPFile)
    }

    package init(status: Int = 200, contentType: String = "text/plain; charset=utf-8", _ body: String) {
        self.init(status: status, contentType: contentType, .bytes(Array(body.utf8)))
    }

    package init(status: Int = 200, contentType: String, _ body: Body) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// All headers but those of the connection and the length.
    var allHeaders: [(name: String, value: String)] {
        let type = contentType.isEmpty ? [] : [("Content-Type", contentType)]
        let isCacheable = headers.contains { $0.name == "Cache-Control" }
        return type + [("X-Content-Type-Options", "nosniff")] + headers
            + (isCacheable ? [] : [("Cache-Control", "no-store")])
    }

    /// The same response with one more header.
    package func with(_ name: String, _ value: String) -> HTTPResponse {
        var response = self
        response.headers.append((name, value))
        return response
    }
}
