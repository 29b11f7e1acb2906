import HTTPServer
import JobSchema

/// One operation of the API: what a request must look like, and what answers it. The document is made from it too.
struct Route: Sendable {
    let method: String
    /// The path, with parameters in braces.
    let path: String
    /// The operation's id in the document, and its name in the log.
    let name: String
    let summary: String
    /// The role that it takes; `nil` for everybody.
    let role: Role?
    /// The parameters of the path.
    var pathParameters: [Parameter] = []
    /// The parameters of the query.
    var query: [Parameter] = []
    /// The schema of the body, if it takes one.
    var body: JSONValue?
    /// The maximum size of the body.
    var maxBodyBytes = 0
    /// The headers that it takes, for the document.
    var headers: [Parameter] = []
    /// The types of a body that is not JSON.
    var bodyTypes: [String] = []
    /// Takes a body that is not JSON as it arrives, where the server has a folder of uploads.
    var receiver: (@Sendable (UploadFolder, APIRequest) throws(Problem) -> any BodyReceiver)?
    /// Whether a ticket in the query replaces the token.
    var takesTicket = false
    /// Whether the header Idempotency-Key is used.
    var isIdempotent = false
    /// The successful responses by status.
    let responses: [(status: Int, summary: String, schema: JSONValue)]
    /// The type of the successful responses.
    var contentType = "application/json"
    /// The operation that the id in the response is for.
    var link: String?
    /// Throws a `Problem`, or the error of a call of the queue.
    let handler: @Sendable (APIRequest) async throws -> Reply

    /// Whether the operation changes something.
    var isChange: Bool { !["GET", "OPTIONS"].contains(method) }

    /// The parts of the path.
    var segments: [Substring] { path.split(separator: "/", omittingEmptySubsequences: false) }
}

/// The successful response of a route.
struct Reply: Sendable {
    var status = 200
    var contentType = "application/json"
    let body: HTTPResponse.Body
    var headers: [(name: String, value: String)] = []
    /// The ids or names that were changed, for the log.
    var subjects: [String] = []

    init(_ value: some Encodable, status: Int = 200, subjects: [String] = []) {
        body = .bytes(JSONBody.bytes(value))
        self.status = status
        self.subjects = subjects
    }

    /// No content.
    init(subjects: [String]) {
        self.init(status: 204, contentType: "", body: [])
        self.subjects = subjects
    }

    init(status: Int, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = .bytes(body)
    }

    init(status: Int, contentType: String, file: HTTPFile) {
        self.status = status
        self.contentType = contentType
        body = .file(file)
    }

    /// The body; empty for a stream or a file.
    var bytes: [UInt8] { if case .bytes(let bytes) = body { bytes } else { [] } }

    init(stream: HTTPStream) {
        contentType = "text/event-stream"
        body = .stream(stream)
        // A proxy must not collect the events.
        headers = [("Cache-Control", "no-cache"), ("X-Accel-Buffering", "no")]
    }
}
