import CCurl
package import JobSchema
import Lifecycle

extension Failure {
    /// The failure for a libcurl result of a source, an output, a callback or traces; `reply` is the server's last reply code, or 0.
    ///
    /// `words` may contain a URL, so it is shown only for certificate errors.
    static func curl(
        _ code: CURLcode, of noun: String, url: String, route: ConnectionRoute, words: String, timeout: Double,
        reply: Int
    ) -> Failure {
        let host = route.host
        let source = "\(noun) '\(redactedURL(url))'"
        let isOutput = noun == "the output"
        if FileScheme(of: url) != nil, let failure = refused(code, source, isOutput: isOutput, reply) { return failure }
        return switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            noAllowedAddress(host, of: noun, url: url)
        case CURLE_COULDNT_CONNECT where route.isDenied: denied(route, of: noun, url: url)
        case CURLE_COULDNT_CONNECT:
            Failure(.sourceUnreachable, "the host '\(host)' of \(source) refuses the connection or is unreachable")
        case CURLE_OPERATION_TIMEDOUT:
            Failure(
                .sourceTimeout,
                "the host '\(host)' of \(source) did not respond within \(Duration.seconds(timeout).rounded) s")
        case CURLE_REMOTE_FILE_NOT_FOUND:
            Failure(.sourceNotFound, "'\(redactedURL(url))' does not exist")
        case CURLE_LOGIN_DENIED:
            Failure(
                .sourceDenied, "the server of \(source) rejects the user, the password or the key, or requires them")
        case CURLE_UPLOAD_FAILED:
            Failure(.sourceDenied, "the server of \(source) rejects the file: check the user's write permission")
        case CURLE_QUOTE_ERROR:
            Failure(.sourceUnreachable, "the server of \(source) accepted the file, but rejects renaming it")
        case CURLE_REMOTE_ACCESS_DENIED: Failure(.sourceDenied, "the server of \(source) denies this")
        case CURLE_PEER_FAILED_VERIFICATION where FileScheme(of: url) == .sftp:
            Failure(
                .sourceUnreachable, "the SSH key of the host '\(host)' does not match RESPOOL_SSH_KNOWN_HOSTS")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            Failure(.sourceUnreachable, "TLS with host '\(host)' failed: \(words)")
        case CURLE_USE_SSL_FAILED:
            Failure(.sourceUnreachable, "the server of \(source) transfers files without TLS only")
        case CURLE_SSL_CACERT_BADFILE:
            Failure(.internal, "the CA certificate file cannot be read: \(words)")
        // libcurl reports this code for a response without a status line.
        case CURLE_UNSUPPORTED_PROTOCOL:
            Failure(.sourceUnreachable, "the response of the server of \(source) is not HTTP")
        case CURLE_URL_MALFORMAT: Failure(.invalidRequest, "the URL of \(source) is malformed")
        case CURLE_PARTIAL_FILE where isOutput: cutOnItsWay(url)
        case CURLE_PARTIAL_FILE: cutShort(url)
        case CURLE_OUT_OF_MEMORY: Failure(.internal, "libcurl: out of memory for \(source)")
        default:
            Failure(
                .sourceUnreachable, "the connection to \(source) failed: \(String(cString: curl_easy_strerror(code)))")
        }
    }

    /// The connection ended before all bytes were received.
    package static func cutShort(_ url: String) -> Failure {
        Failure(
            .sourceTruncated, "the server of the source '\(redactedURL(url))' sent fewer bytes than it declared",
            retryable: true)
    }

    /// A temporary or permanent refusal of an FTP server (RFC 959, section 4.2.1); `nil` if another message is more specific.
    private static func refused(_ code: CURLcode, _ source: String, isOutput: Bool, _ reply: Int) -> Failure? {
        switch (code, reply) {
        // libcurl reports reply 421 as a timeout.
        case (CURLE_OPERATION_TIMEDOUT, 421),
            (CURLE_UPLOAD_FAILED, 400..<500), (CURLE_LOGIN_DENIED, 400..<500), (CURLE_REMOTE_ACCESS_DENIED, 400..<500),
            (CURLE_WEIRD_SERVER_REPLY, 400..<500), (CURLE_QUOTE_ERROR, 400..<500), (CURLE_REMOTE_DISK_FULL, 400..<500),
            (CURLE_PARTIAL_FILE, 400..<500) where code != CURLE_PARTIAL_FILE || isOutput:
            Failure(.sourceUnreachable, "the server of \(source) is temporarily unable to do this: it replied \(reply)")
        case (CURLE_WEIRD_SERVER_REPLY, 500..<600), (CURLE_QUOTE_ERROR, 500..<600), (CURLE_REMOTE_DISK_FULL, 500..<600),
            (CURLE_PARTIAL_FILE, 500..<600) where code != CURLE_PARTIAL_FILE || isOutput:
            Failure(.sourceDenied, "the server of \(source) rejects this: it replied \(reply)")
        default: nil
        }
    }

    /// The failure of an output whose size on the server differs from the number of bytes sent.
    static func cutOnItsWay(_ url: String) -> Failure {
        Failure(
            .sourceUnreachable,
            "the server of the output '\(redactedURL(url))' did not accept the whole file: check its free space")
    }

    /// The failure of a host without an address that may be tried. An address in the URL itself is not secret.
    static func denied(_ route: ConnectionRoute, of noun: String, url: String) -> Failure {
        guard !route.isByName else { return noAllowedAddress(route.host, of: noun, url: url) }
        return Failure(
            .policyDenied,
            "the address of the host '\(route.host)' is not public; the operator can allow it with "
                + setting(for: noun))
    }

    /// Uses the same message for unresolvable and for private names, so that a producer cannot discover private names.
    static func noAllowedAddress(_ host: String, of noun: String, url: String) -> Failure {
        Failure(
            .sourceUnreachable,
            "the host '\(host)' of \(noun) '\(redactedURL(url))' does not resolve to a "
                + "public address; the operator can allow a private one with \(setting(for: noun))")
    }

    private static func setting(for noun: String) -> String {
        noun == "the source" ? "RESPOOL_ALLOW_HOSTS" : "RESPOOL_ALLOW_OUTPUT_HOSTS"
    }
}
