/// How an output reaches its place; but for `overwrite`, on a web server.
package struct Delivery: Codable, Hashable, Sendable {
    package enum Method: String, Codable, CaseIterable, Sendable {
        case put = "PUT"
        case post = "POST"
    }

    package var method = Method.put
    /// Values by names in small letters.
    package var headers: [String: String] = [:]
    /// The name of one of the operator's credentials.
    package var credentials: String?
    package var overwrite = Overwrite.replace

    package init() {}
}

// The fields that say it.
extension FieldReader {
    /// How the output is sent; a field that only a web server understands is refused for any other place.
    func delivery(to place: String?) throws(Failure) -> Delivery {
        var delivery = Delivery()
        if let text = fields["output_method"] {
            guard let method = Delivery.Method(rawValue: text) else { throw wrong("output_method", "PUT or POST") }
            delivery.method = method
        }
        delivery.headers = try headers("output_headers")
        delivery.credentials = try credentials("output_credentials", besides: delivery.headers, "output_headers")
        guard delivery == Delivery() || place.map(OutputPath.isWeb) == true else {
            throw Self.invalid(
                "`output_method`, `output_headers` and `output_credentials` are for an `output` that begins with https:// or http://"
            )
        }
        if let text = fields["overwrite"] {
            guard let mode = Overwrite(rawValue: text) else { throw wrong("overwrite", "replace, skip or fail") }
            guard mode == .replace || delivery.method == .put else {
                throw Self.invalid("`overwrite` is for a PUT: what a server makes of a POST is its own affair")
            }
            delivery.overwrite = mode
        }
        return delivery
    }
}
