package import JobSchema
import LocalFiles
import MediaTypes
import Requests
import SlotIPC

/// The location of an output that is not on this machine.
package enum RemoteLocation: Hashable, Sendable {
    case object(S3Object)
    /// A URL of a web, FTP or SFTP server, which accepts a single file.
    case web(url: String, Delivery)

    /// The location that an output names; `nil` if it is on this machine.
    init?(_ output: TransferJob.Output) throws(Failure) {
        guard var text = output.location else { return nil }
        if OutputPath.isServed(text) {
            guard case .web(let url) = try? SourceLocation(text) else {
                throw Failure(.invalidRequest, "the output '\(redactedURL(text))' is not a valid URL")
            }
            guard !OutputPath.isOnFileServer(text) || OutputPath.fileOnServer(text) != nil else {
                throw Failure(.invalidRequest, "the output '\(redactedURL(text))' does not name a file on a server")
            }
            self = .web(url: url, output.delivery)
            return
        }
        guard OutputPath.isObject(text) else { return nil }
        if text.hasSuffix("/") { text += Destination.sanitized(output.defaultName) }
        self = try .object(S3Object(text, noun: "output"))
    }

    /// The URL, with its secrets.
    var text: String {
        switch self {
        case .object(let object): object.text
        case .web(let url, _): url
        }
    }

    /// The URL without its secrets, for messages and records.
    var name: String { OutputPath.redacted(text) }

    /// The last component of the path.
    private var fileName: Substring {
        let path =
            switch self {
            case .object(let object): object.key[...]
            case .web(let url, _): url.prefix { $0 != "?" && $0 != "#" }
            }
        return path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path
    }

    /// The location of a part. Its name is the stem of this name followed by the suffix.
    func part(_ suffix: String, token: String) throws(Failure) -> (name: String, location: RemoteLocation) {
        guard case .object(let object) = self else {
            throw Failure(
                .invalidRequest,
                "the output consists of several files, and a URL takes one: give a path or s3://bucket/key")
        }
        let name = Destination.partName(of: String(fileName), suffix, token: token)
        return (name, .object(try object.sibling(name)))
    }

    /// The name of the file, if it is on an FTP or SFTP server.
    var nameOnFileServer: String? {
        guard case .web(let url, _) = self, FileScheme(of: url) != nil, let path = OutputPath.fileOnServer(url) else {
            return nil
        }
        return path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) }
    }

    /// The URL and credentials of a request for the location.
    func target(_ client: HTTPClient, query: String = "") throws(Failure) -> RequestTarget {
        switch self {
        case .object(let object): return try client.account.target(of: object, query: query)
        case .web(let url, let delivery):
            try FileScheme.check(url, of: "output", among: client.policy.outputSchemes, "RESPOOL_OUTPUT_SCHEMES")
            guard let name = delivery.credentials else { return RequestTarget(url: url) }
            let line = try client.policy.credentials.header(name, forOutput: url)
            return RequestTarget(url: url, headers: [line].compactMap(\.self))
        }
    }

    /// The media type for the file name extension.
    var mediaType: String {
        let ending = fileName.lastIndex(of: ".").map { fileName[fileName.index(after: $0)...].lowercased() } ?? ""
        return AudioFormat.all.first { $0.fileExtension == ending }?.mediaType
            ?? Self.otherTypes[ending] ?? "application/octet-stream"
    }

    private static let otherTypes = [
        "vtt": "text/vtt", "m4s": "video/iso.segment", "ts": "video/mp2t",
    ]
}

extension StoreRequest {
    /// A request for the location. Only stores use the query.
    convenience init(
        _ message: StoreMessage, about location: RemoteLocation, query: String = "", maxAttempts: Int? = nil,
        client: HTTPClient
    ) {
        // A server may process a repeated POST twice, so it is sent only once.
        let attempts = if case .web = location, message.method == "POST" { 1 } else { maxAttempts }
        self.init(message, client: client, maxAttempts: attempts) { () throws(Failure) in
            try location.target(client, query: query)
        }
    }
}
