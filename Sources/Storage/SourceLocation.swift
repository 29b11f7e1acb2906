package import JobSchema
import Text

/// Where a source is, by the form of its URL alone.
package enum SourceLocation: Hashable, Sendable {
    /// An absolute path of this machine.
    case file(path: String)
    /// The URL of a web server, or of a server of files, fit for the wire.
    case web(url: String)
    case object(S3Object)

    package init(_ source: String) throws(Failure) {
        guard !source.isEmpty else { throw Failure(.invalidRequest, "the source is empty; give a URL") }
        guard !source.utf8.contains(0) else { throw Failure(.invalidRequest, "the source holds a null character") }
        if source.hasPrefix("/") {
            self = .file(path: source)
            return
        }
        switch source.prefix(while: { $0 != ":" }).lowercased() {
        case "file" where source.count > 4: self = try .file(path: Self.path(ofFileURL: source))
        case "http", "https", "ftp", "ftps", "sftp": self = try .web(url: Self.webURL(source))
        case "s3": self = try .object(S3Object(source, noun: "source"))
        default:
            throw Failure(
                .invalidRequest,
                "the source '\(redactedURL(source))' is not supported; give an https, http, s3 or file URL, or an absolute path"
            )
        }
    }

    /// The path or URL.
    package var text: String {
        switch self {
        case .file(let path): path
        case .web(let url): url
        case .object(let object): object.text
        }
    }

    private static func path(ofFileURL source: String) throws(Failure) -> String {
        // A file's name may hold what a URL would take for a query or a fragment, and people write it as it is.
        let escaped = source.flatMap { $0 == "?" ? "%3F" : $0 == "#" ? "%23" : String($0) }
        guard let url = ParsedURL.parse(String(escaped)), let path = url.decodedPath, path.hasPrefix("/") else {
            throw Failure(
                .invalidRequest,
                "the source '\(redactedURL(source))' is not a file URL of this machine; write file:/// and an absolute path"
            )
        }
        return path
    }

    private static func webURL(_ source: String) throws(Failure) -> String {
        // libcurl forgives a missing or a third slash, and would take the first folder for the host.
        let slashes = source.drop { $0 != ":" }.dropFirst().prefix { $0 == "/" }
        let url = slashes.count == 2 ? encoded(source) : ""
        guard let parsed = ParsedURL.parse(url), !parsed.host.isEmpty else {
            throw Failure(.invalidRequest, "the source '\(redactedURL(source))' is not a valid URL")
        }
        return url
    }

    /// The URL with what cannot go over the wire percent-encoded after the host, which may be international.
    private static func encoded(_ source: String) -> String {
        let slashes = source.utf8.dropFirst(source.utf8.prefix { $0 != 0x3a }.count + 1).drop { $0 == 0x2f }
        let host = slashes.prefix { ![0x2f, 0x3f, 0x23].contains($0) }
        let head = source[..<host.endIndex]
        return String(head) + PercentEncoding.encoded(source[host.endIndex...]) { (0x21...0x7e).contains($0) }
    }
}
