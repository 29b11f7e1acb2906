/// The URL of a request, its name in messages, and its credentials.
struct RequestTarget: Sendable {
    let url: String
    /// The URL that the job specified. Messages show it without its secrets.
    let name: String
    let authorization: Authorization
    /// Header lines with credentials.
    let headers: [String]

    init(url: String, name: String? = nil, authorization: Authorization = .none, headers: [String] = []) {
        self.url = url
        self.name = name ?? url
        self.authorization = authorization
        self.headers = headers
    }

    /// Whether the target is an S3 object.
    var isObject: Bool {
        if case .s3 = authorization { true } else { false }
    }
}
