/// The URL of a request, its name in messages, and its credentials.
package struct RequestTarget: Sendable {
    /// The percent-encoded URL.
    package let url: String
    /// The URL that the job specified. Messages show it without its secrets.
    package let name: String
    /// How the request is authenticated.
    package let authorization: Authorization
    /// Header lines with credentials.
    package let headers: [String]

    package init(url: String, name: String? = nil, authorization: Authorization = .none, headers: [String] = []) {
        self.url = url
        self.name = name ?? url
        self.authorization = authorization
        self.headers = headers
    }

    /// Whether the target is an S3 object.
    package var isObject: Bool {
        if case .s3 = authorization { true } else { false }
    }
}
