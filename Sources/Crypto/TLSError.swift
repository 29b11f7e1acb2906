/// Why TLS cannot start, as a message.
package struct TLSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message, with the name of the file or server.
    package let description: String

    init(_ description: String) { self.description = description }
}
