/// The PEM files for the client side of TLS.
package struct TLSFiles: Sendable, Hashable {
    /// The certificates to trust instead of the system's.
    package var authorities: String?
    /// The client certificate.
    package var certificate: String?
    /// The certificate's private key; `nil` if it is in the same file.
    package var key: String?

    package init() {}
}
