package import JobSchema
import Text

/// The location of a source, determined from the form of its URL.
package enum SourceLocation: Hashable, Sendable {
    /// An absolute path on this machine.
    case file(path: String)
    /// The percent-encoded URL of a web, FTP or SFTP server.
    case web(url: String)
    case object(S3Object)

    /// Parses a URL or an absolute path.
    package init(_ source: String) throws(Failure) {
        guard !source.isEmpty else { throw Failure(.invalidRequest, "the source is empty; give a URL") }
        guard !source.utf8.contains(0) else { throw Failure(.invalidRequest, "the source contains a null character") }
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

    /// The path in a file URL for messages; it may contain characters that a URL of a job must not.
    package static func shownPath(_ source: String) -> String {
        PercentEncoding.decoded(source.dropFirst("file://".count)) ?? source
    }

    private static func path(ofFileURL source: String) throws(Failure) -> String {
        guard PercentEncoding.decoded(source)?.utf8.contains(where: { $0 < 0x20 }) != true else {
            throw Failure(
                .invalidRequest,
                "the source '\(redactedURL(source))' has control characters in its path, which are not supported; rename the file"
            )
        }
        // A file name may contain `?` and `#`, which users write unescaped.
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
        // libcurl accepts one or three slashes, and would then take the first folder as the host.
        let slashes = source.drop { $0 != ":" }.dropFirst().prefix { $0 == "/" }
        let url = slashes.count == 2 ? encoded(source) : ""
        guard let parsed = ParsedURL.parse(url), !parsed.host.isEmpty else {
            throw Failure(.invalidRequest, "the source '\(redactedURL(source))' is not a valid URL")
        }
        return url
    }

    /// The URL with invalid characters after the host percent-encoded. The host may be international.
    private static func encoded(_ source: String) -> String {
        let slashes = source.utf8.dropFirst(source.utf8.prefix { $0 != 0x3a }.count + 1).drop { $0 == 0x2f }
        let host = slashes.prefix { ![0x2f, 0x3f, 0x23].contains($0) }
        let head = source[..<host.endIndex]
        return String(head) + PercentEncoding.encoded(source[host.endIndex...]) { (0x21...0x7e).contains($0) }
    }
}
