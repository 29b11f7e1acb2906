import CCurl

/// The sole owner of a URL parsed by libcurl. The corresponding C type is `CURLU`.
package struct ParsedURL: ~Copyable {
    private let handle: OpaquePointer

    private init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { curl_url_cleanup(handle) }

    /// Parses the URL; `nil` if it is malformed.
    package static func parse(_ text: String) -> ParsedURL? {
        guard let handle = curl_url() else { return nil }
        let url = ParsedURL(owning: handle)
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_ALLOW_SPACE)
        guard curl_url_set(handle, CURLUPART_URL, text, flags) == CURLUE_OK else { return nil }
        return url
    }

    /// The absolute URL of a reference that may be relative to `base`; `nil` if either is malformed.
    package static func resolve(_ reference: String, against base: String) -> String? {
        guard let url = parse(base) else { return nil }
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_ALLOW_SPACE | CURLU_URLENCODE)
        guard curl_url_set(url.handle, CURLUPART_URL, reference, flags) == CURLUE_OK else { return nil }
        return url.part(CURLUPART_URL)
    }

    var scheme: String { part(CURLUPART_SCHEME) ?? "" }

    /// The host, without the brackets of an IPv6 address.
    package var host: String {
        let host = part(CURLUPART_HOST) ?? ""
        return host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    }

    /// The port, or the default port of the scheme.
    var port: Int { part(CURLUPART_PORT, flags: CURLU_DEFAULT_PORT).flatMap { Int($0) } ?? 0 }

    var user: String? { part(CURLUPART_USER, flags: CURLU_URLDECODE) }
    var password: String? { part(CURLUPART_PASSWORD, flags: CURLU_URLDECODE) }

    /// The percent-decoded path; `nil` if it contains control characters.
    var decodedPath: String? { part(CURLUPART_PATH, flags: CURLU_URLDECODE) }

    private borrowing func part(_ part: CURLUPart, flags: Int32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, UInt32(flags)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
