import COpenSSL
import Glibc

/// TLS over a connected socket; the server's certificate is verified against its name or address.
///
/// Owns an `SSL`. The socket belongs to its owner, and must outlive this.
package struct TLSSession: ~Copyable {
    private let session: OpaquePointer

    private init(owning session: OpaquePointer) { self.session = session }

    deinit { SSL_free(session) }

    /// Creates a session before its handshake. It trusts the authorities in the file, or the system's, and presents the
    /// client certificate if there is one.
    package static func make(socket: CInt, host: String, files: TLSFiles) throws(TLSError) -> TLSSession {
        let context = try makeContext()
        // The session holds a separate reference.
        defer { SSL_CTX_free(context) }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        if let authorities = files.authorities {
            guard SSL_CTX_load_verify_file(context, authorities) == 1 else {
                throw failure("cannot read the certificates in '\(authorities)'")
            }
        } else {
            SSL_CTX_set_default_verify_paths(context)
        }
        if let certificate = files.certificate { try present(certificate, key: files.key ?? certificate, context) }
        let session = try make(socket: socket, context)
        try session.expect(host: host)
        return session
    }

    /// Creates a session with a server that is not verified, such as one on this machine whose certificate has another name. No
    /// secret may be sent to it.
    package static func makeUnverified(socket: CInt) throws(TLSError) -> TLSSession {
        let context = try makeContext()
        defer { SSL_CTX_free(context) }
        SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
        return try make(socket: socket, context)
    }

    private static func makeContext() throws(TLSError) -> OpaquePointer {
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw failure("cannot start TLS") }
        copenssl_require_tls_1_2(context)
        copenssl_allow_partial_writes(context)
        return context
    }

    private static func make(socket: CInt, _ context: OpaquePointer) throws(TLSError) -> TLSSession {
        guard let pointer = SSL_new(context) else { throw failure("cannot start TLS") }
        let session = TLSSession(owning: pointer)
        guard let method, let bio = BIO_new(method) else { throw failure("cannot start TLS") }
        copenssl_set_socket(bio, socket)
        SSL_set_bio(pointer, bio, bio)
        SSL_set_connect_state(pointer)
        return session
    }

    private static func present(_ certificate: String, key: String, _ context: OpaquePointer) throws(TLSError) {
        guard SSL_CTX_use_certificate_chain_file(context, certificate) == 1 else {
            throw failure("cannot read the certificate in '\(certificate)'")
        }
        // Without this callback OpenSSL would prompt for the key's passphrase on the terminal.
        var wasAsked = false
        let isKey = withUnsafeMutablePointer(to: &wasAsked) { pointer in
            SSL_CTX_set_default_passwd_cb_userdata(context, pointer)
            SSL_CTX_set_default_passwd_cb(context) { _, _, _, asked in
                asked?.assumingMemoryBound(to: Bool.self).pointee = true
                return 0
            }
            defer {
                SSL_CTX_set_default_passwd_cb(context, nil)
                SSL_CTX_set_default_passwd_cb_userdata(context, nil)
            }
            return SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1
        }
        if wasAsked {
            throw TLSError("the key in '\(key)' has a passphrase, which is not supported: give a key without one")
        }
        guard isKey, SSL_CTX_check_private_key(context) == 1 else {
            throw failure("'\(key)' is not the private key of the certificate '\(certificate)'")
        }
    }

    /// One step of the handshake; `.bytes` means that it is complete.
    package func handshake() -> SocketResult {
        attempt { SSL_do_handshake(session) }
    }

    /// Reads decrypted bytes into the buffer.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> SocketResult {
        attempt { SSL_read(session, buffer.baseAddress, CInt(clamping: buffer.count)) }
    }

    /// Checks whether decrypted bytes are available, without consuming them.
    package func peek() -> SocketResult {
        withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { buffer in
            attempt { SSL_peek(session, buffer.baseAddress, 1) }
        }
    }

    /// Encrypts the bytes and sends as many as the socket accepts.
    package func write(_ bytes: UnsafeRawBufferPointer) -> SocketResult {
        attempt { SSL_write(session, bytes.baseAddress, CInt(clamping: bytes.count)) }
    }

    /// Whether decrypted bytes are available that poll(2) on the socket does not report.
    package var hasPendingBytes: Bool { SSL_pending(session) > 0 }

    private func expect(host: String) throws(TLSError) {
        // Returns 0 if the host is not an IP address; it is then a name.
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host) == 1 { return }
        ERR_clear_error()
        guard SSL_set1_host(session, host) == 1, copenssl_set_server_name(session, host) == 1 else {
            throw Self.failure("cannot request the server name '\(host)'")
        }
    }

    private func attempt(_ call: () -> CInt) -> SocketResult {
        ERR_clear_error()
        errno = 0
        let result = call()
        if result > 0 { return .bytes(Int(result)) }
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .ended
        case SSL_ERROR_SYSCALL: return errno == 0 ? .ended : .failed(String(cString: strerror(errno)))
        default: return .failed(reason())
        }
    }

    /// The result of verifying the certificate if that failed, else the error of OpenSSL.
    private func reason() -> String {
        let verdict = SSL_get_verify_result(session)
        guard verdict == X509_V_OK else {
            return "the server's certificate is rejected: \(String(cString: X509_verify_cert_error_string(verdict)))"
        }
        return Self.lastError()
    }

    private static func failure(_ what: String) -> TLSError { TLSError("\(what): \(lastError())") }

    private static func lastError() -> String {
        let code = ERR_peek_last_error()
        return ERR_reason_error_string(code).map { "TLS: \(String(cString: $0))" } ?? "TLS error \(code)"
    }

    nonisolated(unsafe) private static let method: OpaquePointer? = copenssl_socket_method()
}
