/// How an output is sent to its location. Only `overwrite` and `credentials` apply to locations other than web servers.
package struct Delivery: Codable, Hashable, Sendable {
    /// The HTTP methods for sending an output.
    package enum Method: String, Codable, CaseIterable, Sendable {
        case put = "PUT"
        case post = "POST"
    }

    /// The method of the request that sends the output.
    package var method = Method.put
    /// Values by lowercase names.
    package var headers: [String: String] = [:]
    /// The name of one of the operator's credentials.
    package var credentials: String?
    /// What to do if the location already has a file.
    package var overwrite = Overwrite.replace

    package init() {}
}

// The corresponding fields of a job.
extension FieldReader {
    /// How the output is sent; throws if a field applies only to web servers and the location is another one.
    func delivery(to location: String?) throws(Failure) -> Delivery {
        var delivery = Delivery()
        if let text = fields["output_method"] {
            guard let method = Delivery.Method(rawValue: text) else {
                throw wrong("output_method", oneOf: ["PUT", "POST"])
            }
            delivery.method = method
        }
        delivery.headers = try headers("output_headers")
        delivery.credentials = try credentials("output_credentials", besides: delivery.headers, "output_headers")
        var forFiles = Delivery()
        forFiles.credentials = delivery.credentials
        let isOnFileServer = location.map(OutputPath.isOnFileServer) == true
        guard
            delivery == Delivery() || location.map(ServerURL.isOnWeb) == true || isOnFileServer && delivery == forFiles
        else {
            throw Self.invalid(
                "`output_method`, `output_headers` and `output_credentials` require an `output` that begins with https:// or http://"
                    + (isOnFileServer ? "; an FTP or SFTP server takes `output_credentials` only" : ""))
        }
        if let text = fields["overwrite"] {
            guard let mode = Overwrite(rawValue: text) else {
                throw wrong("overwrite", oneOf: ["replace", "skip", "fail"])
            }
            guard mode == .replace || delivery.method == .put else {
                throw Self.invalid(
                    "`overwrite` is not supported for a POST, whose result depends on the server: leave it out, or use PUT"
                )
            }
            guard mode == .replace || !isOnFileServer else {
                throw Self.invalid(
                    "`overwrite` is not supported for FTP and SFTP, where an `output` is always replaced: leave it out")
            }
            delivery.overwrite = mode
        }
        return delivery
    }
}
