/// Where a request goes, what that is called in a sentence, and who asks.
struct RequestTarget: Sendable {
    let url: String
    /// The URL that a person gave; shown without its secrets.
    let name: String
    let authorization: Authorization
    /// Lines that say who asks.
    let headers: [String]

    init(url: String, name: String? = nil, authorization: Authorization = .none, headers: [String] = []) {
        self.url = url
        self.name = name ?? url
        self.authorization = authorization
        self.headers = headers
    }

    /// Whether it is an object of a store, which answers in its own way.
    var isObject: Bool {
        if case .s3 = authorization { true } else { false }
    }
}
