import FoundationEssentials

/// How an output is sent to a web server.
package struct Delivery: Codable, Hashable, Sendable {
    package enum Method: String, Codable, CaseIterable, Sendable {
        case put = "PUT"
        case post = "POST"
    }

    package var method = Method.put
    /// Values by names in small letters.
    package var headers: [String: String] = [:]

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
        if let text = fields["output_headers"] { delivery.headers = try headers(text) }
        guard delivery == Delivery() || place.map(OutputPath.isWeb) == true else {
            throw Self.invalid("`output_method` and `output_headers` are for an `output` that begins with https://")
        }
        return delivery
    }

    private func headers(_ text: String) throws(Failure) -> [String: String] {
        guard let fields = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8)), fields.count <= 16
        else {
            throw Self.invalid(
                #"`output_headers` must be a JSON object of at most 16 texts, as {"content-type":"audio/mpeg"}"#)
        }
        var headers: [String: String] = [:]
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            let isName =
                KeyName.isValid(name) && !name.contains { "_.".contains($0) }
                && !Self.ownHeaders.contains(name.lowercased())
            // libcurl leaves a header out that has no value.
            let isValue =
                value.utf8.allSatisfy { (0x20...0x7e).contains($0) } && value.utf8.contains { $0 > 0x20 }
                && value.utf8.count <= 2048
            guard isName, isValue, headers.updateValue(value, forKey: name.lowercased()) == nil else {
                throw Self.invalid(
                    "`output_headers` has `\(Self.shown(name))`: it must be a header's name of 1 to 64 letters, digits or -, given once, "
                        + "not one of the connection, with a value of visible ASCII")
            }
        }
        return headers
    }

    /// What tells where a message goes and where it ends is not the job's to say.
    private static let ownHeaders: Set = [
        "host", "connection", "content-length", "transfer-encoding", "expect", "upgrade", "te", "trailer", "range",
        "proxy-authorization", "proxy-connection", "keep-alive",
    ]
}
