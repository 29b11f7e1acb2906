/// The response to an HTTP request.
package struct HTTPResponse: Sendable {
    /// The HTTP status code.
    package let status: Int
    /// The value of `Content-Type`.
    package let contentType: String
    /// The text that follows the headers.
    package let body: String

    package init(status: Int = 200, contentType: String = "text/plain; charset=utf-8", _ body: String) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}
