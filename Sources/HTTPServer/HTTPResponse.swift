/// The response to an HTTP request.
package struct HTTPResponse: Sendable {
    package let status: Int
    package let contentType: String
    package let body: String

    package init(status: Int = 200, contentType: String = "text/plain; charset=utf-8", _ body: String) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}
