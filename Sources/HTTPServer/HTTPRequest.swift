/// An HTTP request. Its body is empty until the service has accepted it.
package struct HTTPRequest: Sendable {
    /// The method in capitals, such as `GET`.
    package let method: String
    /// The path, percent-decoded, without the query.
    package private(set) var path: String
    /// The parameters of the query, decoded, in their order; a name may be repeated.
    package let query: [(name: String, value: String)]
    /// The client's address.
    package private(set) var client: ClientAddress
    /// The numeric address that the client connected to; `nil` if it is not known.
    package let localAddress: String?
    /// The body, within the size that the service accepted.
    package internal(set) var body: [UInt8] = []
    private let headers: [String: [String]]

    /// The names of headers in any case.
    package init(
        method: String = "GET", path: String, query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [], client: ClientAddress = ClientAddress([127, 0, 0, 1]),
        localAddress: String? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.client = client
        self.localAddress = localAddress
        self.headers = Dictionary(grouping: headers) { $0.name.lowercased() }.mapValues { $0.map(\.value) }
    }

    /// The same request as a proxy got it.
    package func forwarded(path: String, client: ClientAddress) -> HTTPRequest {
        var request = self
        request.path = path
        request.client = client
        return request
    }

    /// All values of a header; the name is in lower case.
    package func values(_ name: String) -> [String] { headers[name] ?? [] }

    /// The value of a header; `nil` if it is missing or repeated. The name is in lower case.
    package func header(_ name: String) -> String? {
        let values = values(name)
        return values.count == 1 ? values[0] : nil
    }
}
