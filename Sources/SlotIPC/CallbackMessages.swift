package import FoundationEssentials
package import JobSchema

/// What the worker tells a `respool-transfer` that sends callbacks.
package enum CallbackOrder: Codable, Sendable {
    /// The first message, once: what this child may touch.
    case hello(version: Int, policy: TransferPolicy)
    case post(CallbackRequest)
}

/// What a `respool-transfer` that sends callbacks tells the worker.
package enum CallbackReport: Codable, Sendable {
    case hello(version: Int)
    /// What came of the request with that number.
    case answered(Int, CallbackAnswer)
}

/// A message as it goes out, signed already.
package struct CallbackRequest: Codable, Sendable {
    package var number: Int
    package var url: String
    /// Lines, as `webhook-id: …`.
    package var headers: [String]
    package var body: Data

    package init(number: Int, url: String, headers: [String], body: Data) {
        self.number = number
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// The word after the parent's id that makes `respool-transfer` a sender of callbacks.
    package static let role = "callbacks"
    /// Seconds that a request may take.
    package static let timeout = 20.0
}

/// What a receiver said, or why it said nothing.
package struct CallbackAnswer: Codable, Hashable, Sendable {
    package var status: Int?
    /// Seconds.
    package var retryAfter: Double?
    package var failure: Failure?

    package init(status: Int? = nil, retryAfter: Double? = nil, failure: Failure? = nil) {
        self.status = status
        self.retryAfter = retryAfter
        self.failure = failure
    }
}
