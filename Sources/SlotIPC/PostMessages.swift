package import FoundationEssentials
package import JobSchema

/// The messages from the worker to a `respool-transfer` that posts callbacks or traces.
package enum PostOrder: Codable, Sendable {
    /// The first message, sent once: what this child may access.
    case hello(version: Int, policy: TransferPolicy)
    case post(PostRequest)
}

/// The messages from a `respool-transfer` that posts callbacks or traces to the worker.
package enum PostReport: Codable, Sendable {
    case hello(version: Int)
    /// The result of the request with that number.
    case answered(Int, PostAnswer)
}

/// A request with a body, ready to be sent.
package struct PostRequest: Codable, Sendable {
    /// The number by which the answer is matched.
    package var number: Int
    /// The receiver's URL, including any secrets.
    package var url: String
    /// Header lines such as `webhook-id: …`.
    package var headers: [String]
    /// The JSON body.
    package var body: Data

    package init(number: Int, url: String, headers: [String], body: Data) {
        self.number = number
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// The argument after the parent's process id that makes `respool-transfer` post callbacks or traces.
    package static let role = "posts"
    /// The timeout of a request in seconds.
    package static let timeout = 20.0
}

/// The response of a receiver, or why there was none.
package struct PostAnswer: Codable, Hashable, Sendable {
    /// The HTTP status; `nil` if there was no response.
    package var status: Int?
    /// Seconds.
    package var retryAfter: Double?
    /// Why there was no response.
    package var failure: Failure?

    package init(status: Int? = nil, retryAfter: Double? = nil, failure: Failure? = nil) {
        self.status = status
        self.retryAfter = retryAfter
        self.failure = failure
    }
}
