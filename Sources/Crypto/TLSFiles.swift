/// The PEM files of a client's side of TLS.
package struct TLSFiles: Sendable, Hashable {
    /// The certificates to trust instead of the system's.
    package var authorities: String?
    /// The certificate to show to the server.
    package var certificate: String?
    /// The certificate's private key; nothing if it is in the same file.
    package var key: String?

    package init() {}
}
