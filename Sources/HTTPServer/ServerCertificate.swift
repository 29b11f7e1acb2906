import CServerTLS

/// A chain of certificates and the private key of the first one. Each connection has a reference to those with which it began.
///
/// Owns a `cservertls_certificate`, which is only read after it was made.
final class ServerCertificate: Sendable {
    private nonisolated(unsafe) let pointer: OpaquePointer

    /// Why a certificate or a key cannot be used; the texts are GnuTLS's.
    enum Problem: Error {
        case certificate(String)
        case key(String)
        case passphrase
        case mismatch
    }

    /// Parses the certificates, that of the server first, and its key, both in PEM.
    init(chain: [UInt8], key: [UInt8]) throws(Problem) {
        var problem = CSERVERTLS_CHAIN
        var text: UnsafePointer<CChar>?
        guard let made = cservertls_load(chain, chain.count, key, key.count, &problem, &text) else {
            let text = text.map { String(cString: $0) } ?? ""
            switch problem {
            case CSERVERTLS_KEY: throw .key(text)
            case CSERVERTLS_PASSPHRASE: throw .passphrase
            case CSERVERTLS_MISMATCH: throw .mismatch
            default: throw .certificate(text)
            }
        }
        pointer = made
    }

    deinit { cservertls_release(pointer) }

    /// Seconds since 1970.
    var expires: Int64 { cservertls_expires(pointer) }

    /// A reference for a connection, which releases it.
    func retained() -> UnsafeMutableRawPointer {
        cservertls_retain(pointer)
        return UnsafeMutableRawPointer(pointer)
    }

    /// Releases the reference of a connection.
    static func release(_ reference: UnsafeMutableRawPointer) { cservertls_release(OpaquePointer(reference)) }
}
