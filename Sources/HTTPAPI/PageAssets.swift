import CPage
import Crypto
import HTTPServer

/// The files of the page. They contain no data, so they take no token.
struct PageAssets: Sendable {
    private let files: [String: File]

    private struct File: Sendable {
        let mediaType: String
        let bytes: [UInt8]
        let gzip: [UInt8]?
        let digest: String
    }

    /// The policy of the page: only its own scripts and styles, and no text that becomes markup.
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; "
        + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'; trusted-types 'none'; report-uri csp"

    /// Reads the embedded files.
    init() {
        var files: [String: File] = [:]
        for index in 0..<page_asset_count() {
            let asset = page_asset_at(index)
            let bytes = Array(UnsafeBufferPointer(start: asset.bytes, count: asset.count))
            let name = String(cString: asset.name)
            files[name == "index.html" ? "/" : "/page/" + name] = File(
                mediaType: Self.mediaType(name), bytes: bytes, gzip: GzipText.compress(bytes), digest: Digest.of(bytes))
        }
        self.files = files
    }

    private static func mediaType(_ name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "text/javascript; charset=utf-8"
        }
    }

    /// The response to a request of a file; `nil` for other paths.
    func response(_ request: HTTPRequest) throws(Problem) -> HTTPResponse? {
        guard let file = files[request.path] else { return nil }
        guard ["GET", "HEAD"].contains(request.method) else {
            var problem = Problem(405, "method_not_allowed", "the path does not take \(request.method.prefix(16))")
            problem.headers = [("Allow", "GET, HEAD")]
            throw problem
        }
        let gzip = Self.takesGzip(request) ? file.gzip : nil
        let tag = "\"\(file.digest)\(gzip == nil ? "" : "-gzip")\""
        let isKnown = (request.header("if-none-match") ?? "").contains(tag)
        var response = HTTPResponse(
            status: isKnown ? 304 : 200, contentType: file.mediaType, .bytes(isKnown ? [] : gzip ?? file.bytes)
        )
        .with("Content-Security-Policy", Self.policy).with("ETag", tag).with("Vary", "Accept-Encoding")
        .with("Cache-Control", "no-cache").with("Referrer-Policy", "no-referrer")
        .with("Cross-Origin-Resource-Policy", "same-origin").with("Cross-Origin-Opener-Policy", "same-origin")
        if gzip != nil, !isKnown { response = response.with("Content-Encoding", "gzip") }
        return response
    }

    private static func takesGzip(_ request: HTTPRequest) -> Bool {
        request.values("accept-encoding").joined(separator: ",").split(separator: ",").contains { part in
            let words = part.split { $0 == ";" || $0 == " " }
            return words.first?.lowercased() == "gzip" && !words.dropFirst().contains { $0 == "q=0" }
        }
    }
}
