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
    /// How the output is sent. Some fields apply only to web servers.
    func delivery(to location: String?) -> Delivery {
        var delivery = Delivery()
        delivery.method = word("output_method") ?? .put
        delivery.headers = headers("output_headers")
        delivery.credentials = credentials("output_credentials", besides: delivery.headers, "output_headers")
        var forFiles = Delivery()
        forFiles.credentials = delivery.credentials
        let isOnFileServer = location.map(OutputPath.isOnFileServer) == true
        let isRefused = location == nil && fields["output"] != nil
        if !isRefused, delivery != Delivery(), location.map(ServerURL.isOnWeb) != true,
            !isOnFileServer || delivery != forFiles
        {
            let names = ["output_method", "output_headers", "output_credentials"]
            refuse(
                names.first { fields[$0] != nil }!,
                "`output_method`, `output_headers` and `output_credentials` require an `output` that begins with https:// or http://"
                    + (isOnFileServer ? "; an FTP or SFTP server takes `output_credentials` only" : ""))
        }
        delivery.overwrite = word("overwrite") ?? .replace
        if delivery.overwrite != .replace, delivery.method != .put {
            refuse(
                "overwrite",
                "`overwrite` is not supported for a POST, whose result depends on the server: leave it out, or use PUT")
        } else if delivery.overwrite != .replace, isOnFileServer {
            refuse(
                "overwrite",
                "`overwrite` is not supported for FTP and SFTP, where an `output` is always replaced: leave it out")
        }
        return delivery
    }
}
